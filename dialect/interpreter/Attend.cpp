// What attend computes: for each query and head one row of scores, weighed, times the values.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A key is hidden where the mask says so or its score is -inf. Hidden keys are never touched again: their scores and
// values may be infinite or no numbers. A row without a visible key is 0, whatever weigher or sink; its log-sum-exp
// -inf.
#include "dialect/interpreter/Evaluate.h"
#include "dialect/interpreter/Scalars.h"
#include <cmath>

using namespace mlir;

namespace attn::interpreter {

/// Where the rows of q, k or v lie: strides along query (or key) and along q's heads; a tensor of rank 1 has rows of
/// one number.
struct RowLayout {
  const Tensor &tensor;
  int64_t first, width;
  Sizes heads;

  RowLayout(const Tensor &of, DimsAttr dims, DimsAttr heads) : tensor(of), heads(alignStrides(of, dims, heads)) {
    first = computeStrides(tensor.sizes)[0];
    width = tensor.sizes.back();
  }
  const double *row(int64_t place, int64_t head) const { return tensor.numbers.data() + place * first + head; }
  /// What `attn.at` sees of a row.
  Rows rows() const {
    Rows row;
    row.sizes = {width};
    row.strides = {1};
    return row;
  }
};

/// A region of the operation, or nothing where it is empty.
static std::unique_ptr<ScalarProgram> readRegion(Region &region, Outside outside) {
  return region.empty() ? nullptr : std::make_unique<ScalarProgram>(region.front(), outside);
}

/// Arguments of a region from number `first` on are the captured tensors.
static void setCaptures(ScalarProgram *program, unsigned first, Inputs captures) {
  for (size_t i = 0; program && i < captures.size(); ++i)
    program->setRows(first + i, Rows(*captures[i]));
}

namespace {

/// One row of scores: the visible keys in ascending order, each with its score.
struct Row {
  std::vector<int64_t> keys;
  std::vector<double> numbers;
};

class Attention {
public:
  Attention(AttendOp op, Inputs inputs, int64_t first, Outside outside);
  std::vector<Tensor> run();

private:
  Row scoreRow(int64_t query, int64_t head, ArrayRef<int64_t> offsets);
  double score(int64_t query, int64_t key, int64_t head, const double *q, const double *k);
  /// Scores become weights; returns the log-sum-exp.
  double weigh(Row &row, int64_t head);
  SmallVector<double, 2> othersInSum(int64_t head);
  double softmax(Row &row, int64_t head);

  AttendOp op;
  int64_t first; // the number of query 0
  DimsAttr heads;
  RowLayout q, k, v;
  std::unique_ptr<ScalarProgram> scoreRegion, maskRegion, sinkRegion;
  double scale;
  bool needsDot;
};

} // namespace

/// The names between the first and the last.
static DimsAttr headsOf(DimsAttr query) {
  auto names = query.getNames();
  return DimsAttr::get(query.getContext(), names.slice(1, names.size() - 2));
}

Attention::Attention(AttendOp of, Inputs inputs, int64_t firstOf, Outside outside)
    : op(of), first(firstOf), heads(headsOf(op.inDims(0))), q(*inputs[0], op.inDims(0), heads),
      k(*inputs[1], op.inDims(1), heads), v(*inputs[2], op.inDims(2), heads),
      scoreRegion(readRegion(op.getScore(), outside)), maskRegion(readRegion(op.getMask(), outside)),
      sinkRegion(readRegion(op.getSink(), outside)), scale(op.getScale().convertToDouble()),
      needsDot(!scoreRegion || scoreRegion->uses(0)) {
  setCaptures(scoreRegion.get(), 6, inputs.drop_front(3));
  setCaptures(maskRegion.get(), 3, inputs.drop_front(3));
  setCaptures(sinkRegion.get(), 1, inputs.drop_front(3));
  if (scoreRegion) {
    scoreRegion->setRows(4, q.rows());
    scoreRegion->setRows(5, k.rows());
  }
}

double Attention::score(int64_t query, int64_t key, int64_t head, const double *qRow, const double *kRow) {
  double dot = 0;
  for (int64_t d = 0; needsDot && d < q.width; ++d)
    dot += qRow[d] * kRow[d];
  if (!scoreRegion)
    return scale * dot;
  double numbers[] = {scale * dot, static_cast<double>(first + query), static_cast<double>(key),
                      static_cast<double>(head)};
  for (unsigned i = 0; i < 4; ++i)
    scoreRegion->setNumber(i, numbers[i]);
  scoreRegion->moveRows(4, qRow);
  scoreRegion->moveRows(5, kRow);
  return scoreRegion->run();
}

Row Attention::scoreRow(int64_t query, int64_t head, ArrayRef<int64_t> offsets) {
  Row row;
  for (int64_t key = 0; key < k.tensor.sizes[0]; ++key) {
    if (maskRegion) {
      double numbers[] = {static_cast<double>(first + query), static_cast<double>(key), static_cast<double>(head)};
      for (unsigned i = 0; i < 3; ++i)
        maskRegion->setNumber(i, numbers[i]);
      if (maskRegion->run() == 0)
        continue;
    }
    double number = score(query, key, head, q.row(query, offsets[0]), k.row(key, offsets[1]));
    if (number == -INFINITY)
      continue;
    row.keys.push_back(key);
    row.numbers.push_back(number);
  }
  return row;
}

/// The logits that sink and softmax1 add to those of the keys.
SmallVector<double, 2> Attention::othersInSum(int64_t head) {
  SmallVector<double, 2> logits;
  if (op.getWeigh() == Weigh::softmax1)
    logits.push_back(0);
  if (sinkRegion) {
    sinkRegion->setNumber(0, static_cast<double>(head));
    logits.push_back(sinkRegion->run());
  }
  return logits;
}

double Attention::softmax(Row &row, int64_t head) {
  double most = -INFINITY, sum = 0;
  SmallVector<double, 2> others = othersInSum(head);
  for (double number : row.numbers)
    most = std::isnan(number) || std::isnan(most) ? NAN : std::fmax(most, number);
  for (double logit : others)
    if (logit > most && logit < INFINITY)
      most = logit;
  if (most == -INFINITY)
    return most; // no key, and nothing else in the sum
  for (double &number : row.numbers)
    sum += number = std::exp(number - most);
  for (double logit : others)
    sum += std::exp(logit - most);
  for (double &number : row.numbers)
    number /= sum;
  return most + std::log(sum);
}

double Attention::weigh(Row &row, int64_t head) {
  switch (op.getWeigh()) {
  case Weigh::softmax:
  case Weigh::softmax1:
    return softmax(row, head);
  case Weigh::sigmoid:
    for (double &number : row.numbers)
      number = 1 / (1 + std::exp(-number));
    return 0;
  case Weigh::ratio:
    double sum = 0;
    for (double number : row.numbers)
      sum += number;
    for (double &number : row.numbers)
      number = sum == 0 ? 0 : number / sum;
    return 0;
  }
  llvm_unreachable("a weigher is one of four");
}

std::vector<Tensor> Attention::run() {
  Sizes headSizes;
  for (size_t i = 0; i < heads.size(); ++i)
    headSizes.push_back(q.tensor.sizes[i + 1]);
  int64_t queries = q.tensor.sizes[0], keys = k.tensor.sizes[0], headCount = countElements(headSizes);
  Sizes rowSizes = {queries};
  rowSizes.append(headSizes);
  Sizes ySizes = rowSizes, weightSizes = rowSizes;
  ySizes.push_back(v.width);
  weightSizes.push_back(keys);
  Tensor y(ySizes), weights(weightSizes), lse(rowSizes);

  for (int64_t query = 0; query < queries; ++query) {
    int64_t head = 0;
    walk(headSizes, {q.heads, k.heads, v.heads}, [&](ArrayRef<int64_t> offsets) {
      int64_t place = query * headCount + head;
      Row row = scoreRow(query, head, offsets);
      lse.numbers[place] = weigh(row, head);
      for (auto [key, weight] : llvm::zip(row.keys, row.numbers)) {
        weights.numbers[place * keys + key] = weight;
        const double *value = v.row(key, offsets[2]);
        for (int64_t n = 0; n < v.width; ++n)
          y.numbers[place * v.width + n] += weight * value[n];
      }
      ++head;
    });
  }
  std::vector<Tensor> results;
  results.push_back(std::move(y));
  if (op.getWeights())
    results.push_back(std::move(weights));
  if (op.getLse())
    results.push_back(std::move(lse));
  return results;
}

std::vector<Tensor> evaluateAttend(AttendOp op, Inputs inputs, int64_t first, Outside outside) {
  return Attention(op, inputs, first, outside).run();
}

} // namespace attn::interpreter
