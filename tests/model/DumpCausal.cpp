// For tests/integration/test_causal_transformers.py: runs causal checkpoints on token ids and writes all their numbers.
//   dump_causal < lines "DIRECTORY float32|bfloat16|float16 OUTPUT IDS", IDS a file with lines of token ids, a sequence
//   a line
// OUTPUT: float32, hidden states 0 to last [layers + 1, tokens, hidden], then log-probabilities [tokens, vocabulary]
// where there is a head. All sequences are one tree, each a root of its own. One JSON line for each checkpoint:
// {"logits": width, 0 without a head} or {"error": ".."}. In place of the type `weights`: OUTPUT holds the numbers that
// are read, float32, tensor after tensor in the order of their names; "logits" counts them.
#include <ATen/ops/log_softmax.h>
#include <c10/core/InferenceMode.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <numeric>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "base/Error.hpp"
#include "base/files/HubCache.hpp"
#include "base/text/Text.hpp"
#include "model/causal/CausalModel.hpp"
#include "model/checkpoint/Safetensors.hpp"
#include "model/kernels/Kernels.hpp"

namespace {

using namespace stereosweep;

model::TokenTree read_forest(std::istream& in) {
  model::TokenTree tree;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    model::TokenTree::Branch branch;
    branch.first = static_cast<std::int32_t>(tree.ids.size());
    for (query::TokenId id = 0; words >> id; ++branch.length) {
      tree.ids.push_back(id);
    }
    tree.branches.push_back(branch);
  }
  return tree;
}

void write(std::ofstream& out, const at::Tensor& tensor) {
  const auto numbers = tensor.to(at::kCPU, at::kFloat).contiguous();
  out.write(static_cast<const char*>(numbers.const_data_ptr()), static_cast<std::streamsize>(numbers.nbytes()));
}

std::int64_t write_weights(std::ofstream& out, const base::FileSet& files) {
  std::int64_t count = 0;
  for (const auto& [name, stored] : model::read_stored_tensors(files)) {
    std::vector<float> numbers(static_cast<std::size_t>(stored.count()));
    model::read_numbers(stored, 0, numbers);
    const auto bytes = std::as_bytes(std::span(numbers));
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    count += stored.count();
  }
  return count;
}

std::int64_t run(const std::string& directory, const std::string& dtype, const std::string& output,
                 const std::string& ids) {
  const auto adapter = directory + "/adapter";  // where there is one
  const auto place = base::checkpoint_place(directory, std::filesystem::exists(adapter) ? adapter : "");
  const auto files = base::read_checkpoint_files(place, base::CheckpointPart::all_files);
  std::ofstream out(output, std::ios::binary);
  if (dtype == "weights") {
    return write_weights(out, files);
  }
  const auto model = model::CausalModel::load(files,
                                              dtype == "float16"    ? query::Dtype::float16
                                              : dtype == "bfloat16" ? query::Dtype::bfloat16
                                                                    : query::Dtype::float32,
                                              query::Device::automatic);
  std::ifstream lines(ids);
  const auto tree = read_forest(lines);
  std::vector<std::int64_t> rows(tree.ids.size());
  std::iota(rows.begin(), rows.end(), 0);
  const auto last = model->shape().num_layers;
  for (int layer = 0; layer <= last; ++layer) {
    write(out, model->hidden(tree, layer, rows));
  }
  if (!model->shape().has_head) {
    return 0;
  }
  write(out, at::log_softmax(model->logits(model->hidden(tree, last, rows)), -1));
  return model->shape().vocabulary;
}

}  // namespace

int main() {
  model::configure_threads(1);
  const c10::InferenceMode guard;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string directory;
    std::string dtype;
    std::string output;
    std::string ids;
    words >> directory >> dtype >> output >> ids;
    try {
      const auto logits = run(directory, dtype, output, ids);
      std::cout << "{\"logits\": " << logits << "}" << std::endl;
    } catch (const base::InputError& error) {
      std::cout << "{\"error\": " << base::json_quote(error.what()) << "}" << std::endl;
    }
  }
}
