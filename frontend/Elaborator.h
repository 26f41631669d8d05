// Elaborator.h: the state of an elaboration, shared by the files Elaborate*.cpp.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   ElaborateModule.cpp   exports, lets, the module's attributes
//   ElaborateConfig.cpp   config { }, require, weights { }
//   ElaborateStmts.cpp    blocks, assignment, taking apart
//   ElaborateRepeat.cpp   repeat over numbers and over the rows of a tensor, LoopBody.cpp a body elaborated once
//   ElaborateExpr.cpp     names, operators, strings, if
//   ElaborateDims.cpp     shapes and `as`
//   ElaborateCalls.cpp    the user's functions: arguments, lifting, results
//   ElaborateAttend.cpp   attend, ElaborateClause.cpp its clauses, Rules.cpp what stands in them
//   Elementwise.cpp       functions of numbers on tensors: matching by name, folding, maps
//   Builtins*.cpp         param, linear, concat, sum, cache, rotate, …
//   EmitOps.cpp           building operations of the attn dialect
//
// Two things can stop an elaboration without an error, to be tried again another way: a body of `repeat` that needs the
// number of its turn is written out turn by turn, and an export whose parameter turns out to be an index begins again
// with that parameter as int32. Both work by poison: the value is poison and `isStopping()` tells every loop to leave.
#ifndef ATTN_FRONTEND_ELABORATOR_H
#define ATTN_FRONTEND_ELABORATOR_H

#include "dialect/AttnDialect.h"
#include "frontend/Elaborate.h"
#include "frontend/ScalarOps.h"
#include "frontend/States.h"
#include "frontend/Values.h"
#include "frontend/Weights.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"
#include <map>
#include <set>

namespace attn {

/// A file's functions and its names that are bound outside functions. Names not found here are looked up in `outer`.
struct Home {
  enum class State { waiting, running, done };
  struct Global {
    const Expr *expr = nullptr;
    SMRange nameRange;
    State state = State::waiting;
    bool isConfig = false;
    Value value;
  };
  const File *file = nullptr;
  Home *outer = nullptr;
  llvm::StringMap<std::pair<const FnDecl *, Home *>> functions;
  llvm::StringMap<Global> globals;
};

/// Names bound inside a function. A turn's scope lies inside the function's, a clause's inside the one around it.
struct Scope {
  enum class Kind { function, turn, clause };
  Kind kind = Kind::function;
  Scope *outer = nullptr;
  llvm::StringMap<Value> names;
  std::vector<std::vector<Value>> *yields = nullptr; ///< of a turn: what `yield` said
};

/// A call being walked.
struct Frame {
  Home *home = nullptr;
  Scope *scope = nullptr;
  Text path; ///< what `at` put before names of weights
  const FnDecl *fn = nullptr;
  const Frame *caller = nullptr;
  SMRange callRange;
  unsigned depth = 0;
};

/// The region of an attend that is being filled.
struct Clause {
  mlir::OpBuilder builder;
  mlir::Block *block;
  unsigned fixedArgs;
  llvm::SmallVectorImpl<mlir::Value> &captures;
  llvm::StringMap<Value> names;             ///< what functions called here may take
  std::function<mlir::Value(SMRange)> dot;  ///< emits dot(q, k)
  DimRef queries = nullptr, keys = nullptr; ///< what i and j number
  /// Emits the place along a dimension that the whole attend is walked along.
  llvm::DenseMap<DimRef, std::function<mlir::Value(mlir::OpBuilder &)>> walked;

  Clause(mlir::MLIRContext *context, mlir::Block *place, llvm::SmallVectorImpl<mlir::Value> &captured)
      : builder(context), block(place), fixedArgs(0), captures(captured) {
    builder.setInsertionPointToEnd(place);
  }
};

/// An argument of a built-in function, evaluated on demand.
struct CallArgs;
struct LoopBody;

class Elaborator {
public:
  Elaborator(const File &file, llvm::ArrayRef<const File *> library, Config &config, Diagnostics &diags,
             mlir::MLIRContext &context, const ElaborateOptions &options);
  mlir::OwningOpRef<mlir::ModuleOp> run();

  // ---- reporting
  Report report(SMRange where, const llvm::Twine &message);
  SMRange usersCall(SMRange otherwise) const;
  Value fail(SMRange where, const llvm::Twine &message) {
    report(where, message);
    return Value::poison();
  }
  void noteOrigin(Report &report, DimRef dim);
  /// Sizes differ: says both, and where each is from.
  Value failSizes(SMRange where, const llvm::Twine &message, DimRef expected, DimRef actual);
  void noteCallers(Report &report, SMRange where);
  mlir::Location at(SMRange range);

  // ---- stopping to try again
  bool isStopping() const { return stopTurn != nullptr || stopForInts; }
  /// The number of this turn is needed: its repeat will be written out.
  Value needNumber(const Turn *turn, SMRange where, StringRef why);

  // ---- module (ElaborateModule.cpp)
  void indexFile(const File &file, Home &home);
  void importFile(const UseItem &use, Home &home);
  void elaborateExports();
  bool elaborateExport(const FnDecl &fn);
  bool elaborateOnce();
  bool bindExportParameters(const FnDecl &fn, Scope &scope, mlir::Block &entry,
                            llvm::SmallVectorImpl<mlir::Attribute> &attrs);
  bool checkDefault(const Parameter &param, double number, Elem elem);
  bool checkDefaultIds(const FnDecl &fn, mlir::Block &body, llvm::ArrayRef<mlir::Attribute> argAttrs);
  bool finishExport(const FnDecl &fn, Value result, Scope &scope, llvm::ArrayRef<mlir::Attribute> argAttrs,
                    mlir::Region &body);
  bool isExportName(StringRef name) const;
  bool isOfThisCall(const Tensor &t, const FnDecl &fn);
  void setModuleAttributes();
  Value *lookupGlobal(StringRef name, Home *home);
  void evalGlobal(StringRef name, Home::Global &global, Home *home);
  /// The builder behind what the export has at its head so far, and the head's end at the builder.
  void enterHead();
  void leaveHead();

  // ---- configuration (ElaborateConfig.cpp)
  void elaborateConfig(const ConfigBlock &block);
  void elaborateRequire(const RequireItem &item);
  void elaborateWeights(const WeightsBlock &block);
  void saidOnce(const std::string &what, SMRange where);
  void warnUnread();
  /// In config { } and require: a name or a path that is no value bound before is a key.
  std::optional<Value> evalConfigPath(const Expr *e, bool soft);
  Value fromJson(const llvm::json::Value &json, std::vector<std::string> path, SMRange where);
  Value configLookup(const std::vector<std::string> &path, SMRange where, bool soft);
  Value evalField(const FieldExpr &e, bool soft);
  mlir::Attribute attributeOf(const llvm::json::Value &json);

  // ---- statements (ElaborateStmts.cpp)
  Value evalBlock(const Block &block, bool wanted);
  Value evalStatement(const Stmt &stmt, bool last, bool wanted);
  void assign(const AssignStmt &stmt);
  void assignName(StringRef name, Value value);
  std::vector<Value> takeApart(Value value, size_t count, SMRange where);
  std::vector<Value> splitTensor(const Tensor &tensor, size_t count, SMRange where);
  Value evalRepeat(const RepeatExpr &e);
  Value repeatRows(const RepeatExpr &e, Value rows);
  Value scanRows(const RepeatExpr &e, const Tensor &rows);
  bool repeatOnce(const RepeatExpr &e, int64_t count, DimRef along, const Tensor *rows, Value &result);
  std::string tryOnce(LoopBody &body, DimRef along, const Tensor *rows, Value &result);
  std::string tryScan(LoopBody &body, const Tensor &rows, DimRef along, unsigned lifted, Value &result);
  Value repeatTurns(const RepeatExpr &e, int64_t from, int64_t to, DimRef along, const Tensor *rows);
  Value stack(llvm::ArrayRef<Value> turns, DimRef along, SMRange where);
  bool canStack(const Tensor &t, DimRef along, SMRange where);
  void remark(SMRange where, const llvm::Twine &message);
  friend struct LoopBody;

  // ---- expressions (ElaborateExpr.cpp)
  Value eval(const Expr *e);
  Value evalSoft(const Expr *e); ///< of `a ?? b`'s left: poison-free none where absent
  Value evalName(const NameExpr &e);
  Value evalBinary(const BinaryExpr &e);
  Value evalLogic(const BinaryExpr &e);
  Value evalCompare(const CompareExpr &e);
  Value compareValues(CompareOp op, const Value &a, const Value &b, SMRange where, SMRange ra, SMRange rb);
  Value evalIf(const IfExpr &e, bool wanted);
  Value evalString(const StringExpr &e);
  Value evalIndex(const IndexExpr &e);
  Value *lookup(StringRef name);
  std::string suggestion(StringRef name, bool functions);
  /// A number or a boolean known when compiling.
  std::optional<double> number(const Value &v, SMRange where, StringRef what, bool *whole = nullptr);
  std::optional<int64_t> wholeNumber(const Value &v, SMRange where, StringRef what);
  std::optional<bool> truth(const Value &v, SMRange where, StringRef what);
  std::optional<Text> evalText(const Expr *e, StringRef what);
  Text joined(const Text &path, const Text &name) const;

  // ---- dimensions (ElaborateDims.cpp)
  /// The dimension an expression of a shape means; null for a capital that is not bound. `ok` is false after an error.
  DimRef shapeDim(const Expr *e, bool &ok);
  /// As above; unbound is an error too.
  DimRef boundDim(const Expr *e, StringRef what);
  DimRef dimOf(const Value &v, StringRef name, SMRange where);
  /// Must be known when compiling.
  bool isStatic(DimRef dim, SMRange where, StringRef what);
  Value evalAs(const AsExpr &e);
  Value regroup(const Tensor &x, const Shape &shape, SMRange where);

  // ---- calls (ElaborateCalls.cpp)
  Value evalCall(const CallExpr &e);
  std::pair<const FnDecl *, Home *> findFunction(StringRef name);
  Value callFunction(const FnDecl &fn, Home *home, const CallExpr *call, SMRange where);
  Value evalArgument(const Expr *e);
  bool collectArguments(const FnDecl &fn, Home *home, const CallExpr *call, SMRange where,
                        llvm::StringMap<Value> &values);
  /// The dimensions a call walks, as the caller sees them and as lifted forms.
  struct Walk {
    Dims outside, inside;
  };
  bool walk(Tensor &t, size_t extra, Walk &walk, SMRange where);
  bool bindDimension(const Parameter &param, size_t i, Tensor &t, SMRange where, StringRef who);
  bool bindShape(const FnDecl &fn, const Parameter &param, Value &value, SMRange where, Walk &walked);
  bool fillDefault(const Parameter &param, Value &value, SMRange where);
  bool bindParameters(const FnDecl &fn, llvm::StringMap<Value> &values, SMRange where, Walk &walked);
  Value putBack(Value result, DimsRef walked, SMRange where);
  Value checkResults(const FnDecl &fn, Value result, SMRange where);
  Value checkResult(const FnDecl &fn, const Result &declared, Value value, SMRange where);

  // ---- functions of numbers (Elementwise.cpp)
  struct Alignment {
    Dims dims;
    unsigned lifted = 0;
    llvm::SmallVector<llvm::SmallVector<unsigned, 4>, 3> places; ///< of each operand's dimensions in `dims`
  };
  bool align(llvm::ArrayRef<const Tensor *> tensors, SMRange where, StringRef what, Alignment &result,
             bool covering = true);
  Value apply(ScalarOp op, llvm::ArrayRef<Value> args, SMRange where, StringRef what);
  Value applyConstant(ScalarOp op, llvm::ArrayRef<Value> args, const Alignment &a);
  Value applyRule(ScalarOp op, llvm::ArrayRef<Value> args, const Alignment &a, SMRange where);
  Value applyMap(ScalarOp op, llvm::ArrayRef<Value> args, const Alignment &a, SMRange where);
  /// Whether a whole number can stand beside those of tensors, which have 32 bits; an error otherwise.
  bool fitsTensor(double number, SMRange where);
  bool fitsTensor(const Value &value, SMRange where);
  /// A number, boolean or tensor as a tensor; an error otherwise.
  bool asOperand(Value &v, SMRange where, StringRef what);
  /// The tensor as int32, for an index or `==`.
  Value asWhole(Value v, SMRange where);
  bool requireWholeParameters(const Tensor &t, bool deep);
  void findSources(mlir::Value value, bool deep, llvm::SmallPtrSetImpl<mlir::Value> &seen) const;

  // ---- places inside clauses
  Tensor toRule(const Tensor &t, SMRange where);
  Value scalar(mlir::Value value); ///< a number of a region
  Value settle(Tensor t);          ///< a rule without dimensions becomes its number
  mlir::Value capture(mlir::Value outer);

  // ---- built-in functions
  Value callBuiltin(const CallExpr &e, bool &found);
  Value builtinParam(CallArgs &args);
  Value builtinLinear(CallArgs &args, bool bias);
  Value builtinConv2d(CallArgs &args);
  Value builtinTap(CallArgs &args);
  Value builtinFill(CallArgs &args);
  Value builtinRange(CallArgs &args);
  Value builtinReduce(CallArgs &args, StringRef name);
  Value builtinSoftmax(CallArgs &args);
  Value builtinDot(CallArgs &args);
  Value builtinConcat(CallArgs &args);
  Value builtinRoll(CallArgs &args);
  Value builtinSelect(CallArgs &args);
  Value builtinRefuse(CallArgs &args);
  Value builtinCount(CallArgs &args);
  Value builtinAttend(CallArgs &args);
  Value builtinRotate(CallArgs &args);

  // ---- the session (BuiltinState.cpp)
  Value builtinKeep(CallArgs &args);                 ///< cache, once
  Value sessionValue(StringRef name, SMRange where); ///< pos, past, capacity
  Tensor emitPositions(DimRef sequence, SMRange where);
  bool isKept(CallArgs &args, const Tensor &x);
  std::optional<States::Found> findPlace(CallArgs &args, const Text &path, const Tensor &x, DimsRef row);
  mlir::Value emitKeep(const States::Found &place, const Tensor &rows, DimsRef resultDims, SMRange where);
  void failTwice(CallArgs &args, const States::State &place, const Calls &before);
  void failRows(CallArgs &args, const States::State &place, const Tensor &x, DimsRef row);
  Calls callsToHere() const;
  bool isInScan() const;
  bool isShown(CallArgs &args, const Tensor &x);
  /// A dimension of rows that the session keeps; null where all are static or as long as something given.
  DimRef keptDimension(const Tensor &x) const;
  bool checkSession();
  Value dotOf(const Value &x, const Value &y, SMRange where);
  Value reduceTensor(const Tensor &x, unsigned place, StringRef kind, SMRange where);
  Value reduceRule(const Tensor &x, unsigned place, StringRef kind, SMRange where);
  Value matmul(const Value &a, const Value &b, SMRange where);
  Value indexTensor(const Tensor &base, llvm::ArrayRef<Value> indices, const IndexExpr &e);
  Value indexRule(const Tensor &base, llvm::ArrayRef<Value> indices, SMRange where);
  bool reaches(const Tensor &base, llvm::ArrayRef<Value> indices, SMRange where);
  Value gather(const Tensor &base, llvm::ArrayRef<Value> indices, SMRange where);
  Value concat(llvm::ArrayRef<Tensor> parts, llvm::ArrayRef<unsigned> places, SMRange where);
  std::optional<llvm::SmallVector<unsigned>> joinedPlaces(CallArgs &args, llvm::ArrayRef<Tensor> parts);
  std::optional<unsigned> along(CallArgs &args, const Tensor &x);
  std::optional<bool> wantsBias(CallArgs &args, bool byDefault);
  Value bindWeight(const Text &name, DimsRef dims, bool inFirst, SMRange where);
  Value addBias(Value y, const Text &name, DimsRef dims, SMRange where);

  // ---- operations (EmitOps.cpp)
  mlir::RankedTensorType tensorType(DimsRef dims, Elem elem);
  mlir::Value materialise(const Tensor &t, SMRange where);
  DimsAttr labelsOfValue(mlir::Value value); ///< as its operation or the export calls its dimensions
  Tensor made(mlir::Value value, Dims dims, unsigned lifted);
  Tensor emitSlice(const Tensor &x, unsigned place, int64_t offset, DimRef kept, SMRange where);
  Tensor emitReshape(const Tensor &x, Dims dims, unsigned lifted, SMRange where);
  Tensor emitMove(const Tensor &x, Dims dims, unsigned lifted, SMRange where);
  Tensor emitBroadcast(const Tensor &x, Dims dims, unsigned lifted, SMRange where);
  Tensor emitContract(const Tensor &a, const Tensor &b, Dims dims, unsigned lifted, SMRange where);
  Tensor emitConvert(const Tensor &x, Elem elem, SMRange where);
  mlir::Value emitFill(double value, Elem elem, DimsRef dims, SMRange where);

  friend struct CallArgs;
  friend struct AttendBuilder;
  friend struct ClauseFiller;
  friend struct Regrouping;
  friend struct Rotator;

  /// cos and sin of the positions along a sequence by a vector of frequencies, at the head of the export.
  struct Rotation {
    std::string sequence;
    std::shared_ptr<const ConstantData> data; ///< the frequencies, where they are known
    llvm::SmallVector<mlir::Value> made;      ///< the frequencies and the scale, where they are not
    double scale = 1;
    Tensor cos, sin;
  };

  const File &file;
  llvm::ArrayRef<const File *> library;
  Config &config;
  Diagnostics &diags;
  mlir::MLIRContext &context;
  const ElaborateOptions &options;

  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::OpBuilder builder;
  DimTable table;
  Weights weights;
  States states;
  std::deque<Home> homes;
  std::deque<Turn> turnPool;
  Home *userHome = nullptr, *stdHome = nullptr;
  Frame frame;
  Clause *clause = nullptr;
  std::vector<TurnInForce> turnsInForce; ///< of the repeats around, outermost first
  bool inConfig = false;

  // of the export being elaborated
  mlir::Block *entryBlock = nullptr;
  mlir::Operation *lastAtHead = nullptr; ///< of the lets and rotations
  Dims exportSequences;
  llvm::DenseMap<mlir::Value, Dims> dimsOfValue;      ///< of every tensor made
  llvm::DenseMap<mlir::Value, mlir::Value> outsideOf; ///< what a loop's body sees as a row or as carried
  llvm::StringMap<Value> lets;                        ///< lets that are tensors, made at the head of this function
  std::vector<Rotation> rotations;
  /// Look-ups by the number of a query, in a clause, along the queries: wrong where it turns out that they are cached.
  std::vector<std::pair<SMRange, DimRef>> rowLookups;
  std::vector<std::pair<SMRange, DimRef>> onceRows; ///< along what each `once` keeps rows
  std::vector<std::pair<mlir::Value, std::string>> parameters;
  llvm::StringSet<> intParameters;
  bool stopForInts = false;
  const Turn *stopTurn = nullptr;
  std::string stopWhy;
  SMRange stopRange;

  int64_t steps = 0;     ///< expressions evaluated
  unsigned failures = 0; ///< reports, those said before counted
  std::set<std::pair<const char *, std::string>> reported;
  std::set<const char *> writtenOut; ///< places of the session in repeats that another export writes out

  // of the module
  std::vector<std::string> prefixes, ignores, remarks;
  std::vector<std::pair<std::string, std::string>> renames;
  std::string tokenizer;
  std::map<std::string, SMRange> said; ///< what one place alone can say, and where it did
  bool hasRequiredPrefix = false, storedInFirst = false;
};

} // namespace attn

#endif // ATTN_FRONTEND_ELABORATOR_H
