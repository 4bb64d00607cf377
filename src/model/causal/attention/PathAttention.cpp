#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <utility>

#include "base/Error.hpp"
#include "model/causal/attention/KeyValueStore.hpp"
#include "model/kernels/SegmentAttention.hpp"
#include "model/kernels/Segments.hpp"

namespace stereosweep::model {
namespace {

constexpr std::int64_t most_path_queries =
    128;  // of a segment: longer ones would need more room for the queries that fill up

// Paths are filled up to few shapes: powers of two for the queries, for the keys steps of an eighth to a quarter.
std::int64_t filled_queries(std::int64_t count) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(count)));
}

std::int64_t filled_keys(std::int64_t count) {
  const auto step = std::max<std::int64_t>(16, filled_queries(count) / 8);
  return (count + step - 1) / step * step;
}

// Segments of one filled shape, as lists for the device: neighbouring rows of a branch are the queries of a segment,
// the last rows of their path are its keys, and query i of n sees all keys but the last n - 1 - i.
struct FilledPaths {
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  std::vector<std::int32_t> query_places = {};  // [segments * queries] in the list of queries
  std::vector<std::int32_t> key_slots = {};     // [segments * keys]
  std::vector<std::int32_t> first_hidden = {};  // [segments * queries] keys from here on are not seen
  std::vector<std::int32_t> first_seen = {};    // [segments * queries] keys before are not seen

  std::int64_t segments() const { return std::ssize(query_places) / queries; }

  // What fills up repeats a row that is there.
  void add(std::int32_t first_query, std::int32_t num_queries, std::span<const std::int32_t> key_rows,
           std::int64_t window, std::span<const std::int32_t> slots) {
    const auto num_keys = static_cast<std::int32_t>(key_rows.size());
    for (std::int32_t i = 0; i < queries; ++i) {
      const auto query = std::min(i, num_queries - 1);
      const auto end = num_keys - (num_queries - 1 - query);
      query_places.push_back(first_query + query);
      first_hidden.push_back(end);
      first_seen.push_back(window > 0 ? std::max(0, end - static_cast<std::int32_t>(window)) : 0);
    }
    for (std::int32_t i = 0; i < keys; ++i) {
      key_slots.push_back(
          slots[static_cast<std::size_t>(key_rows[static_cast<std::size_t>(std::min(i, num_keys - 1))])]);
    }
  }
};

class PathAttention : public KeyValueStore {
 public:
  using KeyValueStore::KeyValueStore;

  std::unique_ptr<Queries> choose(const TokenTree& tree, std::span<const std::int64_t> rows,
                                  std::int64_t window) const override {
    auto queries = std::make_unique<PathQueries>();
    queries->count = std::ssize(rows);
    const auto shapes = filled_paths(tree, rows, window);
    Staging staging;
    std::vector<std::int32_t> places(rows.size());  // of each query in what the shapes put out
    std::int32_t place = 0;
    for (const auto& filled : shapes) {
      for (const auto query : filled.query_places) {
        places[static_cast<std::size_t>(query)] = place++;
      }
      for (const auto* list : {&filled.query_places, &filled.key_slots, &filled.first_hidden, &filled.first_seen}) {
        staging.add(*list);
      }
    }
    const auto places_list = staging.add(places);
    staging.send(options_.device());
    queries->places = staging.at(places_list);
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      queries->shapes.push_back(masked(shapes[i], staging, i * 4));
    }
    return queries;
  }

  at::Tensor attend(int layer, const Queries& queries, const at::Tensor& query, float scale) const override {
    const auto& chosen = static_cast<const PathQueries&>(queries);
    STEREOSWEEP_ASSERT(query.size(0) >= chosen.count, "a row for every query");
    std::vector<at::Tensor> parts;
    for (const auto& shape : chosen.shapes) {
      parts.push_back(attend_filled(layer, shape, query, scale));
    }
    const auto mixed = at::cat(parts).index_select(0, chosen.places);
    const auto spare = query.size(0) - chosen.count;
    return spare == 0 ? mixed : at::cat({mixed, at::zeros({spare, query.size(1)}, query.options())});
  }

 private:
  struct Shape {
    std::int64_t segments = 0;
    at::Tensor query_places;  ///< [segments * queries] int32
    at::Tensor key_slots;     ///< [segments * keys] int32
    at::Tensor hidden;        ///< [segments, 1, 1, queries, keys] bool
  };
  struct PathQueries : TreeAttention::Queries {
    std::vector<Shape> shapes;
    at::Tensor places;
    std::int64_t count = 0;
  };

  // Shapes in ascending order, each cut where its scores would take too much room. With a window the keys that no query
  // of a segment sees are left out.
  std::vector<FilledPaths> filled_paths(const TokenTree& tree, std::span<const std::int64_t> rows,
                                        std::int64_t window) const {
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<FilledPaths>> by_shape;
    const auto branches = branches_of(tree, rows);
    std::vector<std::int32_t> path;
    for (std::size_t first = 0; first < rows.size();) {
      if (first == 0 || branches[first] != branches[first - 1]) {
        path = path_of(tree, branches[first]);
      }
      auto last = first + 1;
      while (last < rows.size() && branches[last] == branches[first] && rows[last] == rows[last - 1] + 1 &&
             static_cast<std::int64_t>(last - first) < most_path_queries) {
        ++last;
      }
      const auto count = static_cast<std::int64_t>(last - first);
      const auto& branch = tree.branches[branches[first]];
      const auto position = branch.depth + rows[first] - branch.first;
      const auto begin = window > 0 ? std::max<std::int64_t>(0, position + 1 - window) : 0;
      const auto key_rows = std::span(path).subspan(begin, position + count - begin);
      const auto queries = filled_queries(count);
      const auto keys = filled_keys(std::ssize(key_rows));
      const auto bytes = std::max(4 * heads_.queries * queries * keys, 16 * heads_.keys * heads_.width * keys);
      auto& filled = by_shape[{keys, queries}];
      if (filled.empty() || filled.back().segments() >= std::max<std::int64_t>(1, most_scores_bytes / bytes)) {
        filled.push_back({queries, keys});
      }
      filled.back().add(static_cast<std::int32_t>(first), static_cast<std::int32_t>(count), key_rows, window, slots());
      first = last;
    }
    std::vector<FilledPaths> shapes;
    for (auto& [shape, filled] : by_shape) {
      std::ranges::move(filled, std::back_inserter(shapes));
    }
    return shapes;
  }

  // The lists from number `first` on are those of `filled`. What no layer changes is made here.
  Shape masked(const FilledPaths& filled, const Staging& staging, std::size_t first) const {
    Shape shape;
    shape.segments = filled.segments();
    shape.query_places = staging.at(first);
    shape.key_slots = staging.at(first + 1);
    const auto by_query = [&](std::size_t list) {
      return staging.at(first + list).view({shape.segments, 1, 1, filled.queries, 1});
    };
    const auto place = at::arange(filled.keys, options_.dtype(at::kInt));
    shape.hidden = place.ge(by_query(2)).logical_or_(place.lt(by_query(3)));
    return shape;
  }

  // [segments * queries, heads * width], by float32 scores.
  at::Tensor attend_filled(int layer, const Shape& shape, const at::Tensor& query, float scale) const {
    const auto queries = shape.hidden.size(3);
    const auto keys = shape.hidden.size(4);
    const auto group = heads_.queries / heads_.keys;
    const auto columns = heads_.keys * heads_.width;
    const auto cap = specification_.attention_softcap;
    const auto asked = query.index_select(0, shape.query_places)
                           .view({shape.segments, queries, heads_.keys, group, heads_.width})
                           .permute({0, 2, 3, 1, 4})
                           .to(at::kFloat)
                           .reshape({shape.segments, heads_.keys, group * queries, heads_.width});
    const auto rows = rows_of(layer).index_select(0, shape.key_slots);
    const auto by_head = [&](std::int64_t begin) {  // [segments, key heads, keys, width]
      const auto part = rows.slice(1, begin, begin + columns).view({shape.segments, keys, heads_.keys, -1});
      return part.transpose(1, 2).to(at::kFloat);
    };
    auto scores = at::matmul(asked, by_head(0).transpose(2, 3)).unflatten(2, {group, queries});
    scores.mul_(scale / cap).tanh_().mul_(cap);
    scores.masked_fill_(shape.hidden, hidden_score);
    const auto weights = at::softmax(scores, -1).flatten(2, 3);
    return at::matmul(weights, by_head(columns))
        .view({shape.segments, heads_.keys, group, queries, heads_.width})
        .permute({0, 3, 1, 2, 4})
        .to(query.scalar_type())
        .reshape({shape.segments * queries, query.size(1)});
  }
};

}  // namespace

std::unique_ptr<TreeAttention> make_path_attention(const CausalSpecification& specification, const KeptSize& size,
                                                   const at::TensorOptions& options) {
  return std::make_unique<PathAttention>(specification, size, options);
}

}  // namespace stereosweep::model
