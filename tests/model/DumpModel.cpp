// For tests/integration/test_model_transformers.py: runs a checkpoint on token ids and writes all its numbers.
//   dump_model DIRECTORY float32|bfloat16|float16 OUTPUT < lines of token ids, one sequence a line
// OUTPUT: float32, hidden states 0 to last [layers + 1, tokens, hidden], then log-probabilities [tokens, vocabulary].
// All sequences are one batch.
#include <ATen/ops/log_softmax.h>
#include <c10/core/InferenceMode.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "base/Error.hpp"
#include "model/kernels/Kernels.hpp"
#include "model/masked/MaskedModel.hpp"

namespace {

using namespace stereosweep;

model::Packed read_batch(std::istream& in) {
  model::Packed batch;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::int32_t length = 0;
    for (query::TokenId id = 0; words >> id; ++length) {
      batch.ids.push_back(id);
    }
    batch.lengths.push_back(length);
  }
  return batch;
}

void write(std::ofstream& out, const at::Tensor& tensor) {
  const auto numbers = tensor.to(at::kCPU, at::kFloat).contiguous();
  out.write(static_cast<const char*>(numbers.const_data_ptr()), static_cast<std::streamsize>(numbers.nbytes()));
}

int run(const std::string& directory, const std::string& dtype, const std::string& output) {
  model::configure_threads(1);
  const c10::InferenceMode guard;
  const auto model = model::MaskedModel::load(base::read_checkpoint_files(directory, base::CheckpointPart::all_files),
                                              dtype == "float16"    ? query::Dtype::float16
                                              : dtype == "bfloat16" ? query::Dtype::bfloat16
                                                                    : query::Dtype::float32,
                                              query::Device::automatic);
  const auto batch = read_batch(std::cin);
  std::vector<std::int64_t> rows(batch.ids.size());
  std::iota(rows.begin(), rows.end(), 0);
  std::ofstream out(output, std::ios::binary);
  const auto last = model->shape().num_layers;
  for (int layer = 0; layer <= last; ++layer) {
    write(out, model->hidden(batch, layer, rows));
  }
  if (model->shape().has_head) {
    write(out, at::log_softmax(model->logits(model->head_input(model->hidden(batch, last, rows))), -1));
  }
  return out ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: dump_model DIRECTORY float32|bfloat16|float16 OUTPUT < ids\n";
    return 2;
  }
  try {
    return run(argv[1], argv[2], argv[3]);
  } catch (const base::Error& error) {
    std::cerr << error.what() << '\n';
    return static_cast<int>(error.exit_code());
  }
}
