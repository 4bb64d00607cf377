#include "findings/contrasts/ShownConclusions.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace stereosweep::findings {
namespace {

using Labels = std::vector<std::string>;
using Places = std::vector<std::size_t>;

/// What a statistic prints: everything where the job names its measures.
results::ShownMeasures shown_of(const Labels& named, const results::ShownMeasures& shown) {
  return named.empty() ? shown : results::ShownMeasures();
}

Places places_of(const Labels& labels, const results::ShownMeasures& shown) {
  Places places;
  for (std::size_t place = 0; place < labels.size(); ++place) {
    if (shown.holds(labels[place])) {
      places.push_back(place);
    }
  }
  return places;
}

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

/// Names and rows of a statistic whose rows are [measure, ...]; the places that are kept, of how many.
template <class Statistic>
std::pair<Places, std::size_t> keep_names(Statistic& statistic, const results::ShownMeasures& shown) {
  const auto num_all = statistic.measure_names.size();
  auto places = places_of(statistic.measure_names, shown);
  keep(statistic.measures, num_all, places);
  keep(statistic.measure_names, num_all, places);
  return {std::move(places), num_all};
}

template <class Statistic>
void keep_rows(std::optional<Statistic>& statistic, const results::ShownMeasures& shown) {
  if (statistic) {
    const auto [places, num_all] = keep_names(*statistic, shown);
    keep(statistic->rows, num_all, places);
  }
}

/// The people stay: what the measures are compared with.
void keep_sources(Clusters& clusters, const results::ShownMeasures& shown) {
  const auto num_all = clusters.sources.size();
  const auto num_clusters = clusters.most_clusters();
  Places places;
  for (std::size_t source = 0; source < num_all; ++source) {
    if (source >= clusters.num_measures() || shown.holds(clusters.sources[source].name)) {
      places.push_back(source);
    }
  }
  Places measures = places;
  std::erase_if(measures, [&](auto place) { return place >= clusters.num_measures(); });
  keep(clusters.measures, clusters.num_measures(), measures);
  keep(clusters.sources, num_all, places);
  keep(clusters.agreements, num_all, places);
  keep(clusters.tests, num_all, places);
  if (const auto fewer = clusters.most_clusters(); fewer < num_clusters) {  // tests are [source, cluster, pair]
    Places kept;
    for (std::size_t place = 0; place < places.size() * num_clusters; ++place) {
      if (place % num_clusters < fewer) {
        kept.push_back(place);
      }
    }
    keep(clusters.tests, places.size() * num_clusters, kept);
  }
  Places cells;
  for (const auto row : places) {
    std::ranges::transform(places, std::back_inserter(cells), [&](auto column) { return row * num_all + column; });
  }
  keep(clusters.rand, num_all * num_all, cells);
}

/// Rows of the shown measures, and of those that any request names.
template <class Row, class Request>
void keep_named(std::vector<Row>& rows, const std::vector<Request>& requests, const results::ShownMeasures& shown) {
  const auto is_named = [&](const std::string& measure) {
    return std::ranges::any_of(requests, [&](const Request& request) {
      return std::ranges::find(request.measures, measure) != request.measures.end();
    });
  };
  std::erase_if(rows, [&](const Row& row) { return !shown.holds(row.measure) && !is_named(row.measure); });
}

}  // namespace

Conclusions shown_part(Conclusions all, const sweep::Comparison& asked, const results::ShownMeasures& shown) {
  const auto labels_in = [](const auto& request) { return request ? request->measures : Labels(); };
  keep_rows(all.extremes, shown_of(labels_in(asked.extremes), shown));
  if (all.correlations) {
    keep_named(all.correlations->rows, asked.correlations, shown);
  }
  if (!asked.clusters) {  // a probe's own clustering is in the file
    all.clusters.reset();
  }
  if (all.clusters) {
    keep_sources(*all.clusters, shown_of(labels_in(asked.clusters), shown));
  }
  if (all.variation) {
    const auto [places, num_all] = keep_names(*all.variation, shown_of(labels_in(asked.variation), shown));
    for (auto& rows : all.variation->rows) {
      keep(rows, num_all, places);
    }
  }
  if (all.people) {
    const auto [places, num_all] = keep_names(*all.people, shown_of(labels_in(asked.people), shown));
    keep(all.people->cells, num_all, places);
    keep(all.people->selected, all.people->selected.empty() ? 0 : num_all,
         all.people->selected.empty() ? Places() : places);
  }
  return all;
}

}  // namespace stereosweep::findings
