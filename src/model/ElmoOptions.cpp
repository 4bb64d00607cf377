#include "model/ElmoOptions.hpp"

#include <optional>
#include <string>

#include "base/File.hpp"
#include "base/Text.hpp"
#include "model/ConfigFields.hpp"

namespace stereosweep::model {
namespace {

constexpr std::int64_t max_side = 1 << 16;  // of any side; published models stay below 2^13
// Tables of the character encoder have 261 numbers for each of these.
constexpr std::uint64_t max_filter_characters = 1 << 20;

ConfigFields section(const ConfigFields& fields, const char* key) {
  const auto found = fields.section(key);
  if (!found) {
    fields.refuse(key, "missing", "a model of characters and LSTMs has it");
  }
  return *found;
}

std::int64_t needed_size(const ConfigFields& fields, const char* key, std::int64_t most = max_side) {
  if (fields.find(key) == nullptr) {
    fields.refuse(key, "missing", "the shapes of the weights follow from it");
  }
  const auto size = fields.size(key, 0);
  if (size > most) {
    fields.refuse(key, std::to_string(size), "at most " + std::to_string(most) + " is taken");
  }
  return size;
}

double clip(const ConfigFields& fields, const char* key) {
  return fields.number_or_none(key, std::nullopt).value_or(0);
}

std::vector<CharacterFilters> read_filters(const ConfigFields& cnn, std::int64_t max_characters) {
  constexpr auto key = "filters";
  const auto* list = cnn.find(key);
  if (list == nullptr || !list->is_array() || list->empty() || list->size() > 64) {
    cnn.refuse(key, "no list of 1 to 64 filters", "each is [characters, number of filters]");
  }
  std::vector<CharacterFilters> filters;
  std::uint64_t filter_characters = 0;
  for (const auto& entry : *list) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_number_unsigned() || !entry[1].is_number_unsigned()) {
      cnn.refuse(key, entry.dump(), "a filter is [characters, number of filters]");
    }
    const auto width = entry[0].get<std::uint64_t>();
    const auto count = entry[1].get<std::uint64_t>();
    if (width < 1 || width > static_cast<std::uint64_t>(max_characters) || count < 1 || count > max_side) {
      cnn.refuse(key, entry.dump(),
                 "1 to " + std::to_string(max_characters) + " characters and 1 to " + std::to_string(max_side) +
                     " filters are possible");
    }
    filter_characters += width * count;
    filters.push_back({static_cast<std::int64_t>(width), static_cast<std::int64_t>(count)});
  }
  if (filter_characters > max_filter_characters) {
    cnn.refuse(key, base::with_thousands(filter_characters) + " characters in all filters",
               "at most " + base::with_thousands(max_filter_characters) + " are taken, published models have 12,320");
  }
  return filters;
}

void read_characters(const ConfigFields& cnn, ElmoOptions& options) {
  options.max_characters = needed_size(cnn, "max_characters_per_token", 1024);
  if (options.max_characters < 3) {
    cnn.refuse("max_characters_per_token", std::to_string(options.max_characters), "a word has two marks and a letter");
  }
  const auto characters = needed_size(cnn, "n_characters");
  if (characters != num_elmo_characters && characters != num_elmo_characters + 1) {
    cnn.refuse("n_characters", std::to_string(characters), "ELMo has 261 characters, 262 with the one of padding");
  }
  options.character_size = needed_size(section(cnn, "embedding"), "dim");
  options.filters = read_filters(cnn, options.max_characters);
  options.num_highways = needed_size(cnn, "n_highway", 64);
  const auto activation = cnn.text("activation", "");
  if (activation != "relu" && activation != "tanh") {
    cnn.refuse("activation", '"' + activation + '"', "relu and tanh are known");
  }
  options.activation = activation == "relu" ? CharacterActivation::relu : CharacterActivation::tanh;
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
  const ConfigFields fields(files, base::find_elmo_options(files));
  ElmoOptions options;
  read_characters(section(fields, "char_cnn"), options);
  const auto lstm = section(fields, "lstm");
  if (!lstm.is_on("use_skip_connections")) {
    lstm.refuse("use_skip_connections", "not true", "published models have residual connections, others are not known");
  }
  options.num_layers = needed_size(lstm, "n_layers", 64);
  options.cell = needed_size(lstm, "dim");
  options.projection = needed_size(lstm, "projection_dim");
  options.cell_clip = clip(lstm, "cell_clip");
  options.projection_clip = clip(lstm, "proj_clip");
  return options;
}

}  // namespace stereosweep::model
