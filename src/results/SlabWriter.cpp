#include "results/SlabWriter.hpp"

#include <functional>
#include <iterator>
#include <numeric>

#include "base/Check.hpp"

namespace stereosweep::results {

namespace {

constexpr std::uint64_t slab_bytes = std::uint64_t{4} << 20;

std::uint64_t values_in(const hdf5::Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>());
}

std::uint64_t bytes_of(const std::vector<std::string>& texts) {
  return std::accumulate(texts.begin(), texts.end(), texts.size() * sizeof(std::string),
                         [](std::uint64_t sum, const std::string& text) { return sum + text.size(); });
}

template <class T>
std::uint64_t bytes_of(const std::vector<T>& values) {
  return values.size() * sizeof(T);
}

void append(RawColumn& target, RawColumn&& more) {
  std::visit(
      [&](auto& values) {
        auto& added = std::get<std::remove_reference_t<decltype(values)>>(more);
        values.insert(values.end(), std::make_move_iterator(added.begin()), std::make_move_iterator(added.end()));
      },
      target);
}

/// Writes contexts [first, first + count) of an array whose outer axes are `outer`.
void write_contexts(hdf5::DataSet& dataset, const hdf5::Shape& outer, const hdf5::Shape& inner, std::uint64_t first,
                    std::uint64_t count, const RawColumn& column) {
  std::uint64_t done = 0;
  for (auto& rectangle : hdf5::rectangles_of_range(outer, first, count)) {
    rectangle.start.resize(outer.size() + inner.size(), 0);
    rectangle.count.insert(rectangle.count.end(), inner.begin(), inner.end());
    const auto length = values_in(rectangle.count);
    std::visit([&](const auto& values) { dataset.write(rectangle, std::span(values).subspan(done, length)); }, column);
    done += length;
  }
}

}  // namespace

SlabWriter::SlabWriter(const RawSchema& schema, Layout& layout) {
  std::vector<std::string> context_axes;
  for (const auto& axis : schema.outer_axes) {
    context_axes.push_back(axis.name);
    group_shape_.push_back(layout.length(axis.name));
  }
  prior_shape_ = group_shape_;
  prior_shape_[0] = schema.num_priors;
  num_prior_contexts_ = values_in(prior_shape_);
  for (const auto& cube : schema.cubes) {
    auto axes = context_axes;
    axes.insert(axes.end(), cube.inner_axes.begin(), cube.inner_axes.end());
    std::vector<hdf5::DataSet> prior;
    if (schema.num_priors > 0) {
      auto prior_cube = cube;
      prior_cube.name = prior_prefix + cube.name;
      prior_cube.long_name = cube.long_name + " (priors)";
      auto prior_axes = axes;
      prior_axes[0] = prior_name;
      prior.push_back(layout.add_cube(prior_cube, prior_axes));
    }
    hdf5::Shape inner;
    for (const auto& axis : cube.inner_axes) {
      inner.push_back(layout.length(axis));
    }
    cubes_.push_back({std::move(prior), layout.add_cube(cube, axes), std::move(inner)});
  }
}

bool SlabWriter::follows(std::uint64_t first_context) const {
  return first_context == held_first_ + held_contexts_ && first_context != num_prior_contexts_;
}

std::uint64_t SlabWriter::held_bytes() const {
  return std::accumulate(held_.columns.begin(), held_.columns.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const RawColumn& column) {
                           return sum + std::visit([](const auto& values) { return bytes_of(values); }, column);
                         });
}

void SlabWriter::add(std::uint64_t first_context, std::uint64_t num_contexts, RawBlock&& block) {
  STEREOSWEEP_ASSERT(block.columns.size() == cubes_.size(), "a block has other cubes than its schema");
  STEREOSWEEP_ASSERT(first_context >= num_prior_contexts_ || first_context + num_contexts <= num_prior_contexts_,
                     "a block crosses from priors to groups");
  if (held_contexts_ > 0 && follows(first_context)) {
    for (std::size_t index = 0; index < cubes_.size(); ++index) {
      append(held_.columns[index], std::move(block.columns[index]));
    }
    held_contexts_ += num_contexts;
  } else {
    flush();
    held_ = std::move(block);
    held_first_ = first_context;
    held_contexts_ = num_contexts;
  }
  if (held_bytes() >= slab_bytes) {
    flush();
  }
}

void SlabWriter::flush() {
  if (held_contexts_ == 0) {
    return;
  }
  for (std::size_t index = 0; index < cubes_.size(); ++index) {
    auto& cube = cubes_[index];
    if (held_first_ < num_prior_contexts_) {
      write_contexts(cube.prior.front(), prior_shape_, cube.inner_shape, held_first_, held_contexts_,
                     held_.columns[index]);
    } else {
      write_contexts(cube.group, group_shape_, cube.inner_shape, held_first_ - num_prior_contexts_, held_contexts_,
                     held_.columns[index]);
    }
  }
  held_ = {};
  held_contexts_ = 0;
}

}  // namespace stereosweep::results
