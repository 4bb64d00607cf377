// The keys of `statistics` that every probe has: what is asked of its score table.
#pragma once

#include <type_traits>

#include "config/axes/Pieces.hpp"
#include "config/yaml/FieldsSchema.hpp"
#include "sweep/Comparison.hpp"

namespace stereosweep::config {

/// Reads, dumps or describes them; beside them stand the probe's own. A dump has them where one is not the default.
template <class Keys, class Comparison>
void comparison_keys(Keys& statistics, Comparison& comparison) {
  constexpr bool is_dump = std::is_same_v<Keys, FieldsDump>;
  if (is_dump && comparison == sweep::Comparison()) {  // dumps of older runs stay what they were
    return;
  }
  sweep::Comparison::each_statistic(comparison, [&](const sweep::Statistic& statistic, auto& asked) {
    using Request = typename std::remove_cvref_t<decltype(asked)>::value_type;
    static_assert(
        requires { Request::key_form; }, "messages show the form of what is asked");
    if constexpr (requires { asked.has_value(); }) {
      statistics.all_or(statistic.key, asked, statistic.about);
    } else {
      static_assert(
          requires(Request request) { request.name, Request::listed_as; }, "rows are told apart by names");
      if (!is_dump || !asked.empty()) {
        statistics.items(statistic.key, asked, statistic.about);
      }
    }
  });
  statistics.nested(
      "inference", [&](auto& keys) { sweep::Comparison::inference_keys(comparison, keys); },
      "of every test and interval");
}

}  // namespace stereosweep::config
