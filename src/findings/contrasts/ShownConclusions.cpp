#include "findings/contrasts/ShownConclusions.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace stereosweep::findings {
namespace {

using Places = std::vector<std::size_t>;

/// Of `values` [num_all, ...] these places of the first axis.
template <class T>
void keep(std::vector<T>& values, std::size_t num_all, const Places& places) {
  const auto length = num_all == 0 ? 0 : values.size() / num_all;
  std::vector<T> kept;
  kept.reserve(places.size() * length);
  for (const auto place : places) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(place * length);
    kept.insert(kept.end(), first, first + static_cast<std::ptrdiff_t>(length));
  }
  values = std::move(kept);
}

}  // namespace

Conclusions shown_part(Conclusions all, const sweep::Comparison& asked, const results::ShownMeasures& shown) {
  if (!all.people || (asked.people && !asked.people->measures.empty())) {
    return all;
  }
  const auto num_all = all.people->measure_names.size();
  Places places;
  for (std::size_t place = 0; place < num_all; ++place) {
    if (shown.holds(all.people->measure_names[place])) {
      places.push_back(place);
    }
  }
  keep(all.people->measures, num_all, places);
  keep(all.people->measure_names, num_all, places);
  keep(all.people->cells, num_all, places);
  keep(all.people->selected, all.people->selected.empty() ? 0 : num_all,
       all.people->selected.empty() ? Places() : places);
  return all;
}

}  // namespace stereosweep::findings
