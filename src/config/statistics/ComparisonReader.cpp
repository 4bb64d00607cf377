#include "config/statistics/ComparisonReader.hpp"

#include <type_traits>

namespace stereosweep::config {
namespace {

template <class Keys, class Comparison>
void show_keys(Keys& statistics, Comparison& comparison) {
  sweep::Comparison::each_statistic(comparison, [&](const char* name, auto& asked, const char* about) {
    if constexpr (requires { asked.has_value(); }) {
      statistics.all_or(name, asked, about);
    } else if (!std::is_same_v<Keys, FieldsDump> || !asked.empty()) {
      statistics.items(name, asked, about);
    }
  });
  statistics.nested(
      "inference", [&](auto& keys) { sweep::Comparison::inference_keys(comparison, keys); },
      "of every test and interval");
}

}  // namespace

void comparison_keys(Fields& statistics, sweep::Comparison& comparison) { show_keys(statistics, comparison); }

void comparison_keys(FieldsDump& statistics, const sweep::Comparison& comparison) {
  if (comparison != sweep::Comparison()) {  // dumps of older runs stay what they were
    show_keys(statistics, comparison);
  }
}

void comparison_keys(FieldsSchema& statistics, const sweep::Comparison& comparison) {
  show_keys(statistics, comparison);
}

}  // namespace stereosweep::config
