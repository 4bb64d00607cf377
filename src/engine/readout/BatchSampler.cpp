#include "engine/readout/BatchSampler.hpp"

#include <ATen/Parallel.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/topk.h>
#include <ATen/ops/where.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "base/Lists.hpp"
#include "engine/readout/Download.hpp"
#include "engine/readout/HiddenRows.hpp"
#include "engine/readout/Readout.hpp"
#include "engine/readout/RowSampling.hpp"
#include "model/kernels/Segments.hpp"

namespace stereosweep::engine {
namespace {

// Weights in float64 that exist at once.
constexpr std::int64_t most_weight_bytes = std::int64_t{1} << 27;

// Rows with penalties, copies, that exist at once; also what keeps their places in 31 bits.
constexpr std::int64_t most_penalized_bytes = std::int64_t{1} << 28;

constexpr auto block_columns = static_cast<std::int64_t>(block_width);

// A row of logits and the temperature that its weights are made with.
using Heated = std::pair<std::int64_t, double>;

// Where a sorted list of distinct values has one.
template <class Value>
std::int32_t place_in(const std::vector<Value>& sorted, const Value& value) {
  return static_cast<std::int32_t>(std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin());
}

// Where a row begins, as numbers_at counts.
std::int32_t begin_of(const at::Tensor& matrix, std::int64_t row) {
  return static_cast<std::int32_t>(row * matrix.stride(0));
}

std::vector<std::int32_t> narrowed(const std::vector<std::int64_t>& numbers) {
  return {numbers.begin(), numbers.end()};
}

// Of every row the sums up to each place, as one product: CUDA's running sum of floating-point numbers has no fixed
// order, and torch refuses it where that is asked for.
at::Tensor running_sums(const at::Tensor& masses) {
  return at::matmul(masses, at::ones({masses.size(1), masses.size(1)}, masses.options()).triu_());
}

// Of every row the first place whose running sum exceeds `drawn` [rows, 1]; where rounding leaves the draw at the very
// end, the last place with a mass: [rows, 1].
at::Tensor place_of_draw(const at::Tensor& masses, const at::Tensor& sums, const at::Tensor& drawn) {
  const auto place = sums.le(drawn).sum(1, true);
  const auto number = at::arange(masses.size(1), place.options());
  return at::minimum(place, number.mul(masses.gt(0)).amax(1, true));
}

// A row of its own for each task, after its penalty.
at::Tensor penalized_rows(const at::Tensor& logits, std::span<const DrawTask> tasks) {
  const auto width = logits.size(1);
  std::vector<std::int64_t> places;
  std::vector<float> factors;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const auto& task = tasks[i];
    std::vector<std::int64_t> own;
    for (const auto ids : {task.prompt, task.added}) {
      for (const auto id : ids) {
        if (id < width && task.asked->repetition_penalty != 1) {
          own.push_back(static_cast<std::int64_t>(i) * width + id);
        }
      }
    }
    own = sorted_distinct(std::move(own));
    places.insert(places.end(), own.begin(), own.end());
    factors.resize(places.size(), static_cast<float>(task.asked->repetition_penalty));
  }
  model::Staging staging;
  const std::array lists{staging.add(narrowed(base::mapped(tasks, &DrawTask::row))), staging.add(narrowed(places)),
                         staging.add(factors)};
  staging.send(logits.device());
  auto changed = logits.index_select(0, staging.at(lists[0]));
  const auto at_places = staging.at(lists[1]);
  const auto factor = staging.at(lists[2]);
  const auto before = numbers_at(changed, at_places);
  const auto after = at::where(before.lt(0), before.mul(factor), before.div(factor));
  after.clamp_(std::numeric_limits<float>::lowest(), std::numeric_limits<float>::max());
  model::put_rows(changed.view(-1), at_places.to(at::kLong), after);
  return changed;
}

// Draws where the logits are, with one wait: all that the draws need is asked of the device before any of it is read.
class DeviceDraws {
 public:
  // `matrix`: the logits, or what penalized_rows() made of them for these tasks. Both are borrowed, as the tasks are.
  DeviceDraws(const at::Tensor& logits, const at::Tensor& matrix, std::span<const DrawTask> tasks)
      : logits_(logits), matrix_(matrix), tasks_(tasks) {
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      const auto& task = tasks_[i];
      const auto sampling = sampling_of(*task.asked, task.step, static_cast<std::size_t>(width()));
      places_.push_back({is_changed() ? static_cast<std::int64_t>(i) : task.row, sampling});
      const bool is_first_of_largest = sampling.top_k == 1 && sampling.unit == 0;
      groups_[is_first_of_largest ? 1 : sampling.decisive].tasks.push_back(i);
    }
  }

  std::vector<std::optional<Drawn>> draw() {
    std::vector<at::Tensor> parts{checked_sums(logits_)};
    for (auto& [decisive, group] : groups_) {
      group.first_part = std::ssize(parts);
      if (decisive > 1) {
        start_among_largest(decisive, group, parts);
      } else {
        const auto begin = [this](std::size_t task) { return begin_of(logits_, tasks_[task].row); };
        const auto begins = model::on_device(base::mapped(group.tasks, begin), device());
        parts.push_back(decisive == 1 ? ids_of_largest(group) : ids_by_blocks(group));
        parts.push_back(numbers_at(logits_, parts.back().add(begins)));
      }
    }
    Download numbers(std::move(parts));
    const auto* sums = numbers.parts().front().const_data_ptr<float>();
    std::vector<std::optional<Drawn>> drawn(tasks_.size());
    for (const auto& [decisive, group] : groups_) {
      const auto* first = &numbers.parts()[static_cast<std::size_t>(group.first_part)];
      for (std::size_t i = 0; i < group.tasks.size(); ++i) {
        const auto task = group.tasks[i];
        const auto [id, logit] =
            decisive > 1 ? among_largest(group, task, first)
                         : Logit{first[0].const_data_ptr<std::int32_t>()[i], first[1].const_data_ptr<float>()[i]};
        const auto logprob = static_cast<double>(logit) - static_cast<double>(sums[tasks_[task].row]);
        drawn[task] = std::isfinite(logprob) ? std::optional(Drawn{id, logprob}) : std::nullopt;
      }
    }
    return drawn;
  }

 private:
  // What a task draws from: a row of the matrix.
  struct Place {
    std::int64_t row = 0;
    Sampling sampling;
  };

  // Tasks that as many of the largest logits decide: these come, their columns, their logits before penalties where
  // there is one, and the sums of the rows' weights where a nucleus needs them. Where blocks or the largest one decide,
  // the ids come and their logits before penalties.
  struct Group {
    std::vector<std::size_t> tasks;
    std::vector<Heated> heated;  // sorted, distinct; empty: no sums
    std::ptrdiff_t first_part = 0;
  };

  // Block masses and largest logits of rows at temperatures.
  struct Weights {
    at::Tensor masses;  // [heated, blocks] float64
    at::Tensor most;    // [heated, 1] float64
  };

  bool is_changed() const { return !matrix_.is_same(logits_); }
  std::int64_t width() const { return matrix_.size(1); }
  at::Device device() const { return matrix_.device(); }
  Heated heated(std::size_t task) const { return {places_[task].row, places_[task].sampling.temperature}; }

  std::vector<Heated> heated_of(const std::vector<std::size_t>& some) const {
    return sorted_distinct(base::mapped(some, [this](std::size_t task) { return heated(task); }));
  }

  Weights weigh(const std::vector<Heated>& all) const {
    const auto at_once = std::max<std::int64_t>(1, most_weight_bytes / (8 * width()));
    const auto blocks = (width() + block_columns - 1) / block_columns;
    std::vector<at::Tensor> masses;
    std::vector<at::Tensor> largest;
    for (std::int64_t begin = 0; begin < std::ssize(all); begin += at_once) {
      const auto count = std::min(at_once, std::ssize(all) - begin);
      const auto some = std::span(all).subspan(begin, count);
      model::Staging staging;
      const auto rows = staging.add(narrowed(base::mapped(some, &Heated::first)));
      const auto divisors = staging.add(base::mapped(some, &Heated::second));
      staging.send(device());
      const auto wide = matrix_.index_select(0, staging.at(rows)).to(at::kDouble);
      largest.push_back(at::amax(wide, 1, true));
      const auto weights = wide.sub(largest.back()).div_(staging.at(divisors).unsqueeze(1)).exp_();
      const auto padded = at::constant_pad_nd(weights, {0, blocks * block_columns - width()});
      masses.push_back(padded.view({count, blocks, block_columns}).sum(2));
    }
    return {at::cat(masses), at::cat(largest)};
  }

  // The lowest ids among the largest logits: [tasks] int32.
  at::Tensor ids_of_largest(const Group& group) const {
    const auto row = [this](std::size_t task) { return static_cast<std::int32_t>(places_[task].row); };
    const auto rows = model::on_device(base::mapped(group.tasks, row), device());
    return at::argmax(matrix_, 1).to(at::kInt).index_select(0, rows);
  }

  // Block sums choose the block, and its own weights the token: [tasks] int32.
  at::Tensor ids_by_blocks(const Group& group) const {
    const auto all = heated_of(group.tasks);
    const auto weights = weigh(all);
    const auto of_tasks = [&](const auto& value) { return base::mapped(group.tasks, value); };
    model::Staging staging;
    const std::array lists{
        staging.add(of_tasks([&](std::size_t task) { return place_in(all, heated(task)); })),
        staging.add(of_tasks([&](std::size_t task) { return begin_of(matrix_, places_[task].row); })),
        staging.add(of_tasks([&](std::size_t task) { return places_[task].sampling.unit; })),
        staging.add(of_tasks([&](std::size_t task) { return places_[task].sampling.temperature; }))};
    staging.send(device());
    const auto column = [&](std::size_t list) { return staging.at(lists[list]).unsqueeze(1); };
    const auto masses = weights.masses.index_select(0, staging.at(lists[0]));
    const auto most = weights.most.index_select(0, staging.at(lists[0]));
    const auto sums = running_sums(masses);
    const auto drawn = masses.sum(1, true).mul_(column(2));
    const auto block = place_of_draw(masses, sums, drawn);
    const auto rest = drawn.sub(sums.gather(1, block)).add_(masses.gather(1, block));
    const auto columns = block.mul(block_columns).add(at::arange(block_columns, block.options()));
    const auto own = numbers_at(matrix_, columns.clamp_max(width() - 1).add(column(1)).to(at::kInt).flatten());
    const auto powers = own.view(columns.sizes()).to(at::kDouble).sub_(most).div_(column(3));
    const auto inside = powers.exp_().mul_(columns.lt(width()));
    return place_of_draw(inside, running_sums(inside), rest).add_(block.mul(block_columns)).to(at::kInt).flatten();
  }

  void start_among_largest(std::size_t wanted, Group& group, std::vector<at::Tensor>& parts) const {
    const auto [values, columns] = at::topk(matrix_, std::min(static_cast<std::int64_t>(wanted), width()), 1);
    parts.push_back(values);
    parts.push_back(columns.to(at::kInt));
    if (is_changed()) {
      const auto begins = base::mapped(tasks_, [this](const DrawTask& task) { return begin_of(logits_, task.row); });
      const auto places = parts.back().add(model::on_device(begins, device()).unsqueeze(1));
      parts.push_back(numbers_at(logits_, places.flatten()).view(columns.sizes()));
    }
    if (std::ranges::any_of(group.tasks, [this](std::size_t task) { return places_[task].sampling.top_k == 0; })) {
      group.heated = heated_of(group.tasks);
      parts.push_back(weigh(group.heated).masses.sum(1));
    }
  }

  // The token of a task with its logit before any penalty. The whole row comes where its largest logits do not decide.
  Logit among_largest(const Group& group, std::size_t task, const at::Tensor* parts) const {
    const auto& [place, sampling] = places_[task];
    if (!all_finite(row_of(parts[0], place))) {
      return {0, std::numeric_limits<float>::quiet_NaN()};  // a NaN is among the largest
    }
    RowMass row{static_cast<std::size_t>(width()), 0};
    if (!group.heated.empty()) {
      row.total = parts[is_changed() ? 3 : 2].const_data_ptr<double>()[place_in(group.heated, heated(task))];
    }
    if (const auto decided = candidates_among(logits_at(parts[0], parts[1], place), row, sampling)) {
      const auto id = pick(*decided, sampling.unit);
      const auto before = logits_at(parts[is_changed() ? 2 : 0], parts[1], place);
      return {id, std::ranges::find(before, id, &Logit::id)->value};
    }
    const auto whole = on_host(matrix_.narrow(0, place, 1));
    const auto id = pick(candidates(row_of(whole, 0), sampling), sampling.unit);
    const auto before = is_changed() ? on_host(logits_.narrow(0, tasks_[task].row, 1)) : whole;
    return {id, row_of(before, 0)[static_cast<std::size_t>(id)]};
  }

  const at::Tensor& logits_;
  const at::Tensor& matrix_;
  std::span<const DrawTask> tasks_;
  std::vector<Place> places_;            // of the tasks
  std::map<std::size_t, Group> groups_;  // by how many of the largest logits decide; 0: blocks do; 1: the first of them
};

std::vector<std::optional<Drawn>> draw_on_host(const at::Tensor& logits, std::span<const DrawTask> tasks) {
  const auto host = on_host(logits);
  std::vector<std::optional<BlockMasses>> masses(static_cast<std::size_t>(host.size(0)));
  const auto rows = sorted_distinct(base::mapped(tasks, &DrawTask::row));
  at::parallel_for(0, std::ssize(rows), 4, [&](std::int64_t begin, std::int64_t end) {
    for (const auto row : std::span(rows).subspan(begin, end - begin)) {
      if (const auto numbers = row_of(host, row); all_finite(numbers)) {
        masses[static_cast<std::size_t>(row)] = masses_at(numbers, 1);
      }
    }
  });
  std::vector<std::optional<Drawn>> drawn(tasks.size());
  at::parallel_for(0, std::ssize(tasks), 4, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      const auto& task = tasks[i];
      if (const auto& plain = masses[static_cast<std::size_t>(task.row)]) {
        const auto row = row_of(host, task.row);
        const auto penalty = task.asked->repetition_penalty;
        const auto sampling = sampling_of(*task.asked, task.step, row.size());
        const auto id = penalty == 1 ? next_token(row, sampling, &*plain)
                                     : next_token(penalized(row, task.prompt, task.added, penalty), sampling);
        const auto total = plain->largest + std::log(plain->total());
        drawn[i] = {id, static_cast<double>(row[static_cast<std::size_t>(id)]) - total};
      }
    }
  });
  return drawn;
}

std::vector<std::optional<Drawn>> draw_by_operators(const at::Tensor& logits, std::span<const DrawTask> tasks) {
  const bool is_plain =
      std::ranges::all_of(tasks, [](const auto& task) { return task.asked->repetition_penalty == 1; });
  const auto most_rows =
      static_cast<std::size_t>(std::max<std::int64_t>(1, most_penalized_bytes / (4 * logits.size(1))));
  std::vector<std::optional<Drawn>> drawn;
  while (drawn.size() < tasks.size()) {
    const auto left = tasks.subspan(drawn.size());
    const auto some = left.first(is_plain ? left.size() : std::min(most_rows, left.size()));
    const auto matrix = is_plain ? logits : penalized_rows(logits, some);
    const auto found = DeviceDraws(logits, matrix, some).draw();
    drawn.insert(drawn.end(), found.begin(), found.end());
  }
  return drawn;
}

}  // namespace

std::vector<std::optional<Drawn>> draw_tokens(const at::Tensor& logits, std::span<const DrawTask> tasks,
                                              model::Kernels kernels) {
  return kernels == model::Kernels::operators ? draw_by_operators(logits, tasks) : draw_on_host(logits, tasks);
}

}  // namespace stereosweep::engine
