#include "config/statistics/ComparisonReader.hpp"

#include <type_traits>

namespace stereosweep::config {
namespace {

template <class Keys, class Comparison>
void show_keys(Keys& statistics, Comparison& comparison) {
  sweep::Comparison::each_statistic(comparison, [&](const sweep::Statistic& statistic, auto& asked) {
    using Request = typename std::remove_cvref_t<decltype(asked)>::value_type;
    static_assert(
        requires { Request::key_form; }, "messages show the form of what is asked");
    if constexpr (requires { asked.has_value(); }) {
      statistics.all_or(statistic.key, asked, statistic.about);
    } else {
      static_assert(
          requires(Request request) { request.name, Request::listed_as; }, "rows are told apart by names");
      if (!std::is_same_v<Keys, FieldsDump> || !asked.empty()) {
        statistics.items(statistic.key, asked, statistic.about);
      }
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
