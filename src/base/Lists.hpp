// Lists made of other lists, so that each is one expression.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <numeric>
#include <ranges>
#include <type_traits>
#include <vector>

namespace stereosweep::base {

/// What `make` gives of each element: a function, or a member of it.
template <class Range, class Make>
auto mapped(Range&& range, Make make) {
  std::vector<std::decay_t<std::invoke_result_t<Make&, decltype(*std::begin(range))>>> made;
  for (auto&& element : range) {
    made.push_back(std::invoke(make, element));
  }
  return made;
}

/// The elements of the list that `read` gives of each element, one list after another.
template <class Range, class Read = std::identity>
auto joined(const Range& range, Read read = {}) {
  std::vector<std::ranges::range_value_t<std::invoke_result_t<Read&, decltype(*std::begin(range))>>> all;
  for (const auto& element : range) {
    const auto& list = std::invoke(read, element);
    all.insert(all.end(), list.begin(), list.end());
  }
  return all;
}

/// The elements that `holds` is true of.
template <class Range>
auto filtered(const Range& range, const auto& holds) {
  std::vector<std::ranges::range_value_t<Range>> some;
  std::ranges::copy_if(range, std::back_inserter(some), holds);
  return some;
}

/// 0, 1, 2, ... below `count`.
inline std::vector<std::size_t> places_below(std::size_t count) {
  std::vector<std::size_t> places(count);
  std::iota(places.begin(), places.end(), std::size_t{0});
  return places;
}

/// Those of them that `holds` is true of.
std::vector<std::size_t> places_where(std::size_t count, const auto& holds) {
  return filtered(std::views::iota(std::size_t{0}, count), holds);
}

/// Whether the list holds the value.
bool contains(const auto& range, const auto& value) {
  return std::ranges::find(range, value) != std::ranges::end(range);
}

/// Adds the value unless the list holds it.
template <class Value>
void add_once(std::vector<Value>& list, const Value& value) {
  if (!contains(list, value)) {
    list.push_back(value);
  }
}

}  // namespace stereosweep::base
