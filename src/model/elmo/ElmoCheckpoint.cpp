#include "model/elmo/ElmoCheckpoint.hpp"

#include <ATen/ops/from_blob.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>

#include "base/Error.hpp"
#include "base/process/Trial.hpp"
#include "base/text/JsonValue.hpp"
#include "base/text/Text.hpp"
#include "hdf5/File.hpp"
#include "model/checkpoint/TensorReader.hpp"

namespace stereosweep::model {

namespace {

constexpr std::int64_t max_side = 1 << 16;  // of any side; published models stay below 2^13
// Tables of the character encoder have 261 numbers for each of these.
constexpr std::uint64_t max_filter_characters = 1 << 20;

std::int64_t needed_size(const base::JsonValue& fields, const char* key, std::int64_t most = max_side) {
  const auto size = fields[key].size();
  fields[key].refuse_if(size > most, std::to_string(size), "at most " + std::to_string(most) + " is taken");
  return size;
}

std::vector<CharacterFilters> read_filters(const base::JsonValue& cnn, std::int64_t max_characters) {
  const auto list = cnn["filters"];
  list.refuse_if(list.list().empty() || list.list().size() > 64, "no list of 1 to 64 filters",
                 "each is [characters, number of filters]");
  std::vector<CharacterFilters> filters;
  std::uint64_t filter_characters = 0;
  for (const auto& entry : list.items()) {
    entry.refuse_if(entry.list().size() != 2, entry.json().dump(), "a filter is [characters, number of filters]");
    const auto parts = entry.items();
    const auto& filter = filters.emplace_back(parts[0].whole<std::int64_t>(1, max_characters),
                                              parts[1].whole<std::int64_t>(1, max_side));
    filter_characters += static_cast<std::uint64_t>(filter.width * filter.count);
  }
  list.refuse_if(filter_characters > max_filter_characters,
                 base::with_thousands(filter_characters) + " characters in all filters",
                 "at most " + base::with_thousands(max_filter_characters) + " are taken, published models have 12,320");
  return filters;
}

void read_characters(const base::JsonValue& cnn, ElmoOptions& options) {
  options.max_characters = needed_size(cnn, "max_characters_per_token", 1024);
  cnn["max_characters_per_token"].refuse_if(options.max_characters < 3, std::to_string(options.max_characters),
                                            "a word has two marks and a letter");
  const auto characters = needed_size(cnn, "n_characters");
  cnn["n_characters"].refuse_if(characters != num_elmo_characters && characters != num_elmo_characters + 1,
                                std::to_string(characters), "ELMo has 261 characters, 262 with the one of padding");
  options.character_size = needed_size(cnn["embedding"], "dim");
  options.filters = read_filters(cnn, options.max_characters);
  options.num_highways = needed_size(cnn, "n_highway", 64);
  const auto activation = cnn["activation"].text_or("");
  cnn["activation"].refuse_if(activation != "relu" && activation != "tanh", '"' + activation + '"',
                              "relu and tanh are known");
  options.activation = activation == "relu" ? CharacterActivation::relu : CharacterActivation::tanh;
}

using base::describe;
using Shape = std::vector<std::int64_t>;

constexpr std::size_t alignment = 64;

struct Wanted {
  std::string name;
  Shape shape;
  std::size_t count = 0;   // numbers
  std::size_t offset = 0;  // bytes
};

/// Memory that a child process writes and this one reads: first the number of the data set that is being read.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t bytes) {
    // Its pages are taken when they are written: a shape that the file does not have costs nothing.
    auto* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    base::fail_if(memory == MAP_FAILED, "no memory for " + base::with_thousands(bytes) + " bytes",
                  std::strerror(errno));
    owner_ = {static_cast<std::byte*>(memory), [bytes](std::byte* begin) { ::munmap(begin, bytes); }};
  }
  void note_progress(std::size_t number) const { std::memcpy(owner_.get(), &number, sizeof number); }
  std::size_t progress() const {
    std::size_t number = 0;
    std::memcpy(&number, owner_.get(), sizeof number);
    return number;
  }
  float* numbers(std::size_t offset) const { return reinterpret_cast<float*>(owner_.get() + offset); }
  const std::shared_ptr<std::byte>& owner() const { return owner_; }

 private:
  std::shared_ptr<std::byte> owner_;
};

/// Names and shapes that the options ask for.
std::map<std::string, Shape> tensor_shapes(const ElmoOptions& options) {
  std::map<std::string, Shape> shapes;
  const auto filters = options.num_filters();
  const auto gates = 4 * options.cell;
  shapes["char_embed"] = {num_elmo_characters, options.character_size};
  for (std::size_t i = 0; i < options.filters.size(); ++i) {
    const auto& [width, count] = options.filters[i];
    shapes["CNN/W_cnn_" + std::to_string(i)] = {1, width, options.character_size, count};
    shapes["CNN/b_cnn_" + std::to_string(i)] = {count};
  }
  for (std::int64_t i = 0; i < options.num_highways; ++i) {
    const auto group = "CNN_high_" + std::to_string(i) + "/";
    for (const auto* part : {"carry", "transform"}) {
      shapes[group + "W_" + part] = {filters, filters};
      shapes[group + "b_" + part] = {filters};
    }
  }
  shapes["CNN_proj/W_proj"] = {filters, options.projection};
  shapes["CNN_proj/b_proj"] = {options.projection};
  for (const int direction : {0, 1}) {
    for (std::int64_t layer = 0; layer < options.num_layers; ++layer) {
      const auto cell = elmo_cell_path(direction, layer);
      shapes[cell + "W_0"] = {2 * options.projection, gates};
      shapes[cell + "B"] = {gates};
      shapes[cell + "W_P_0"] = {options.cell, options.projection};
    }
  }
  return shapes;
}

/// In the order of the file's names; offsets begin behind the progress.
std::vector<Wanted> lay_out(const ElmoOptions& options, std::size_t& bytes) {
  std::vector<Wanted> all;
  bytes = alignment;
  for (auto& [name, shape] : tensor_shapes(options)) {
    const auto count = std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
    all.push_back({name, shape, count, bytes});
    bytes += (count * sizeof(float) + alignment - 1) / alignment * alignment;
  }
  return all;
}

hdf5::DataSet open(const hdf5::File& file, const std::string& path) {
  const auto parts = base::split(path, '/');
  const auto require = [&](const hdf5::Group& group, const std::string& name) {
    base::fail_if(!group.contains(name), "it is missing", "the options file asks for it");
  };
  std::vector<hdf5::Group> groups;
  const auto* group = &file.root();
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {  // one at a time: a link anywhere on the way is refused
    require(*group, parts[i]);
    groups.push_back(group->open_group(parts[i]));
    group = &groups.back();
  }
  require(*group, parts.back());
  return group->open_dataset(parts.back());
}

void read(const hdf5::File& file, const Wanted& wanted, float* numbers) {
  const auto dataset = open(file, wanted.name);
  const auto stored = dataset.shape();
  if (!std::equal(stored.begin(), stored.end(), wanted.shape.begin(), wanted.shape.end(),
                  [](std::uint64_t a, std::int64_t b) { return a == static_cast<std::uint64_t>(b); })) {
    base::fail("it has shape " + text_of(Shape(stored.begin(), stored.end())),
               "the options file asks for " + text_of(wanted.shape));
  }
  base::fail_if(dataset.type() != hdf5::ElementType::float32, "it is no float32", "ELMo's weights are");
  dataset.read(0, std::span(numbers, wanted.count));
}

void check_finite(const Wanted& wanted, const float* numbers, const std::string& place) {
  const auto* bad = std::find_if_not(numbers, numbers + wanted.count, [](float value) { return std::isfinite(value); });
  base::refuse_if(bad != numbers + wanted.count,
                  place + ": data set " + base::json_quote(wanted.name) + " holds NaN or infinity at number " +
                      std::to_string(bad - numbers),
                  "every vector would be NaN", "Is the file damaged?");
}

}  // namespace

std::int64_t ElmoOptions::num_filters() const {
  std::int64_t count = 0;
  for (const auto& filter : filters) {
    count += filter.count;
  }
  return count;
}

ElmoOptions read_elmo_options(const base::FileSet& files) {
  const auto fields = base::read_json(files, base::find_elmo_options(files));
  ElmoOptions options;
  read_characters(fields["char_cnn"], options);
  const auto lstm = fields["lstm"];
  lstm["use_skip_connections"].refuse_if(!lstm["use_skip_connections"].flag_or(false), "not true",
                                         "published models have residual connections, others are not known");
  options.num_layers = needed_size(lstm, "n_layers", 64);
  options.cell = needed_size(lstm, "dim");
  options.projection = needed_size(lstm, "projection_dim");
  options.cell_clip = lstm["cell_clip"].positive_or(0);
  options.projection_clip = lstm["proj_clip"].positive_or(0);
  return options;
}

std::string elmo_cell_path(int direction, std::int64_t layer) {
  return "RNN_" + std::to_string(direction) + "/RNN/MultiRNNCell/Cell" + std::to_string(layer) + "/LSTMCell/";
}

ElmoTensors read_elmo_tensors(const base::FileSet& files, const ElmoOptions& options) {
  const auto name = base::find_elmo_weights(files);
  const auto place = files.directory() + "/" + name;
  const auto& content = files.at(name);
  std::size_t size = 0;
  const auto wanted = lay_out(options, size);
  const SharedMemory memory(size);
  base::TrialLimits limits;
  limits.memory += content.size();
  const auto cause = base::try_in_child(
      [&](const base::TrialStep& step) {
        const auto image = content.mapped();
        const auto file = hdf5::File::open_image(image.bytes(), place);
        for (std::size_t i = 0; i < wanted.size(); ++i) {
          memory.note_progress(i + 1);
          read(file, wanted[i], memory.numbers(wanted[i].offset));
          step();
        }
      },
      limits);
  const auto reached = std::min(memory.progress(), wanted.size());
  if (!cause.empty()) {
    const auto part = reached == 0 ? "its beginning" : "data set " + base::json_quote(wanted[reached - 1].name);
    base::refuse(place + ": cannot read " + part, cause);
  }
  ElmoTensors tensors;
  for (const auto& part : wanted) {
    auto* numbers = memory.numbers(part.offset);
    check_finite(part, numbers, place);
    tensors[part.name] = at::from_blob(
        numbers, part.shape, [owner = memory.owner()](void*) {}, at::kFloat);
  }
  return tensors;
}

}  // namespace stereosweep::model
