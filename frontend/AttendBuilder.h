// AttendBuilder.h: a call of attend on its way to an attn.attend.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_FRONTEND_ATTENDBUILDER_H
#define ATTN_FRONTEND_ATTENDBUILDER_H

#include "frontend/CallArgs.h"
#include "frontend/Labels.h"

namespace attn {

/// One call of attend on its way to an attn.attend.
struct AttendBuilder {
  Elaborator &e;
  CallArgs &args;
  Tensor q, k, v;
  DimRef queries = nullptr, keys = nullptr;
  Dims walked, heads; ///< q's heads: first what the call is walked along, then its own
  DimRef rowQ = nullptr, rowK = nullptr, rowV = nullptr;
  bool isSingle = false, unitQ = false, unitK = false, unitV = false;
  unsigned outerLifted = 0;
  llvm::SmallVector<mlir::Value> captures;
  mlir::Region score, mask, sink;
  double scale = 1;
  bool scored = false, withWeights = false;
  Weigh weigh = Weigh::softmax;

  SMRange where() const { return args.range(); }
  bool readRows();
  bool placeWalks();
  bool shapeInputs();
  bool shapeOne(Tensor &t, DimRef first, DimRef row, bool isUnit, bool isSingleRow);
  void matchUnnamed(Tensor &t);
  bool checkHeads(const Tensor &t, StringRef who, SMRange range);
  /// Evaluates a clause into its region, which stays empty where it says nothing. False after an error.
  bool fill(const Argument *arg, mlir::Region &region, StringRef kind);
  /// Every region gets every captured tensor.
  void padCaptures();
  /// q . k needs rows of one length.
  bool checkRows();
  bool readOptions();
  Labels::List captureLabels(mlir::Value captured, Labels &labels);
  Value restore(mlir::Value value, const Dims &have, bool dropsRow);
  Value finish();
};

} // namespace attn

#endif // ATTN_FRONTEND_ATTENDBUILDER_H
