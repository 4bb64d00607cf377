#include "engine/readout/TokenDrawer.hpp"

#include <ATen/Parallel.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/take.h>
#include <ATen/ops/topk.h>
#include <ATen/ops/where.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "engine/readout/Drawing.hpp"
#include "engine/readout/HiddenRows.hpp"

namespace stereosweep::engine {
namespace {

using query::TokenId;

// Weights in float64 that exist at once.
constexpr std::int64_t most_weight_bytes = std::int64_t{1} << 27;

template <class Number, class Values>
at::Tensor on_device_of(const at::Tensor& matrix, const Values& values, at::ScalarType type) {
  auto list = at::empty({std::ssize(values)}, at::TensorOptions(type));
  std::copy(values.begin(), values.end(), list.template mutable_data_ptr<Number>());
  return list.to(matrix.device());
}

at::Tensor longs(const at::Tensor& matrix, const std::vector<std::int64_t>& values) {
  return on_device_of<std::int64_t>(matrix, values, at::kLong);
}

// A row of logits and the temperature that its weights are made with.
using Heated = std::pair<std::int64_t, double>;

// Draws from the rows of one matrix where it is.
class MatrixDraws {
 public:
  MatrixDraws(const at::Tensor& logits, std::span<const DrawTask> tasks) : logits_(logits), tasks_(tasks) {}

  /// Of rows that are not finite some token.
  std::vector<TokenId> run() {
    ids_.resize(tasks_.size());
    std::vector<std::size_t> largest;
    std::vector<std::size_t> free;
    std::map<std::int64_t, std::vector<std::size_t>> by_kept;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      switch (restriction_of(*tasks_[i].asked, static_cast<std::size_t>(width()))) {
        case Restriction::largest:
          largest.push_back(i);
          break;
        case Restriction::none:
          free.push_back(i);
          break;
        case Restriction::top_k:
          by_kept[tasks_[i].asked->top_k + std::int64_t{1}].push_back(i);
          break;
        case Restriction::nucleus:
          by_kept[nucleus].push_back(i);
      }
    }
    take_largest(largest);
    draw_free(free);
    for (const auto& [kept, some] : by_kept) {
      draw_restricted(some, kept == nucleus ? static_cast<std::int64_t>(usual_nucleus) : kept,
                      kept == nucleus ? heated_rows(some) : std::map<Heated, BlockMasses>{});
    }
    return std::move(ids_);
  }

 private:
  static constexpr std::int64_t nucleus = 0;  // no number of kept logits

  std::int64_t width() const { return logits_.size(1); }
  double unit(std::size_t task) const { return unit_of(*tasks_[task].asked, tasks_[task].step); }
  Heated heated(std::size_t task) const { return {tasks_[task].row, tasks_[task].asked->temperature}; }

  std::vector<std::int64_t> rows_of(const std::vector<std::size_t>& some) const {
    std::vector<std::int64_t> rows;
    for (const auto task : some) {
      rows.push_back(tasks_[task].row);
    }
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    return rows;
  }

  at::Tensor picked(const std::vector<std::int64_t>& rows) const {
    return std::ssize(rows) == logits_.size(0) ? logits_ : logits_.index_select(0, longs(logits_, rows));
  }

  static std::size_t place_of(const std::vector<std::int64_t>& rows, std::int64_t row) {
    return static_cast<std::size_t>(std::lower_bound(rows.begin(), rows.end(), row) - rows.begin());
  }

  void take_largest(const std::vector<std::size_t>& some) {
    if (some.empty()) {
      return;
    }
    const auto rows = rows_of(some);
    const auto found = most_probable(picked(rows));
    for (const auto task : some) {
      ids_[task] = found[place_of(rows, tasks_[task].row)].value_or(0);
    }
  }

  // Block masses and the largest logit of every different row and temperature.
  std::map<Heated, BlockMasses> heated_rows(const std::vector<std::size_t>& some) const {
    std::map<Heated, BlockMasses> found;
    for (const auto task : some) {
      found[heated(task)];
    }
    const auto at_once = std::max<std::int64_t>(1, most_weight_bytes / (8 * width()));
    const auto blocks = (width() + static_cast<std::int64_t>(block_width) - 1) / static_cast<std::int64_t>(block_width);
    for (auto next = found.begin(); next != found.end();) {
      std::vector<std::int64_t> rows;
      std::vector<double> temperatures;
      auto end = next;
      for (; end != found.end() && std::ssize(rows) < at_once; ++end) {
        rows.push_back(end->first.first);
        temperatures.push_back(end->first.second);
      }
      const auto wide = logits_.index_select(0, longs(logits_, rows)).to(at::kDouble);
      const auto most = at::amax(wide, 1, true);
      const auto divisors = on_device_of<double>(logits_, temperatures, at::kDouble).unsqueeze(1);
      const auto weights = wide.sub(most).div_(divisors).exp_();
      const auto spare = blocks * static_cast<std::int64_t>(block_width) - width();
      const auto padded = at::constant_pad_nd(weights, {0, spare});
      const auto sums = padded.view({std::ssize(rows), blocks, static_cast<std::int64_t>(block_width)}).sum(2);
      const auto host = at::cat({sums, most}, 1).to(at::kCPU).contiguous();
      const auto* numbers = host.const_data_ptr<double>();
      for (; next != end; ++next, numbers += blocks + 1) {
        next->second = {{numbers, numbers + blocks}, static_cast<float>(numbers[blocks])};
      }
    }
    return found;
  }

  // Block sums choose the block, and one block of each comes back.
  void draw_free(const std::vector<std::size_t>& some) {
    if (some.empty()) {
      return;
    }
    const auto found = heated_rows(some);
    std::vector<BlockDraw> draws;
    std::vector<std::int64_t> starts;
    for (const auto task : some) {
      draws.push_back(pick_block(found.at(heated(task)).masses, unit(task)));
      starts.push_back(tasks_[task].row * width() + static_cast<std::int64_t>(draws.back().block * block_width));
    }
    const auto one =
        at::arange(static_cast<std::int64_t>(block_width), at::TensorOptions(at::kLong).device(logits_.device()));
    const auto places = longs(logits_, starts).unsqueeze(1).add(one).clamp_max_(logits_.numel() - 1);
    const auto host = on_host(at::take(logits_, places));
    for (std::size_t i = 0; i < some.size(); ++i) {
      const auto first = draws[i].block * block_width;
      const auto own = row_of(host, static_cast<std::int64_t>(i))
                           .first(std::min(block_width, static_cast<std::size_t>(width()) - first));
      const auto place =
          pick_in_block(own, draws[i].rest, found.at(heated(some[i])).largest, tasks_[some[i]].asked->temperature);
      ids_[some[i]] = static_cast<TokenId>(first + place);
    }
  }

  // The largest logits come back; the whole row where they do not decide.
  void draw_restricted(const std::vector<std::size_t>& some, std::int64_t kept,
                       const std::map<Heated, BlockMasses>& heated_of) {
    const auto rows = rows_of(some);
    const auto [values, columns] = at::topk(picked(rows), std::min(kept, width()), 1);
    const auto logits = on_host(values);
    const auto ids = columns.to(at::kInt).to(at::kCPU).contiguous();
    for (const auto task : some) {
      const auto& asked = *tasks_[task].asked;
      const auto place = static_cast<std::int64_t>(place_of(rows, tasks_[task].row));
      const auto numbers = row_of(logits, place);
      if (!all_finite(numbers)) {
        continue;  // a NaN is among the largest
      }
      const auto* const names = ids.const_data_ptr<std::int32_t>() + place * ids.size(1);
      std::vector<Logit> largest;
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        largest.push_back({names[i], numbers[i]});
      }
      RowMass row{static_cast<std::size_t>(width()), 0};
      if (const auto found = heated_of.find(heated(task)); found != heated_of.end()) {
        row.total = std::accumulate(found->second.masses.begin(), found->second.masses.end(), 0.0);
      }
      const auto decided = candidates_among(std::move(largest), row, asked);
      ids_[task] = pick(decided ? *decided : candidates(whole_row(tasks_[task].row), asked), unit(task));
    }
  }

  std::span<const float> whole_row(std::int64_t row) {
    fetched_ = on_host(logits_.narrow(0, row, 1));
    return row_of(fetched_, 0);
  }

  const at::Tensor& logits_;
  std::span<const DrawTask> tasks_;
  std::vector<TokenId> ids_;
  at::Tensor fetched_;
};

// A row of its own for each task, after its penalty; the tasks then read these rows.
at::Tensor penalized_rows(const at::Tensor& logits, std::vector<DrawTask>& tasks) {
  const auto width = logits.size(1);
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> places;
  std::vector<float> factors;
  for (auto& task : tasks) {
    std::vector<std::int64_t> own;
    for (const auto ids : {task.prompt, task.added}) {
      for (const auto id : ids) {
        if (id < width) {
          own.push_back(std::ssize(rows) * width + id);
        }
      }
    }
    std::sort(own.begin(), own.end());
    own.erase(std::unique(own.begin(), own.end()), own.end());
    places.insert(places.end(), own.begin(), own.end());
    factors.resize(places.size(), static_cast<float>(task.asked->repetition_penalty));
    rows.push_back(std::exchange(task.row, std::ssize(rows)));
  }
  auto changed = logits.index_select(0, longs(logits, rows));
  const auto at_places = longs(logits, places);
  const auto factor = on_device_of<float>(logits, factors, at::kFloat);
  const auto before = at::take(changed, at_places);
  const auto after = at::where(before.lt(0), before.mul(factor), before.div(factor));
  changed.put_(at_places, after.clamp_(std::numeric_limits<float>::lowest(), std::numeric_limits<float>::max()));
  return changed;
}

}  // namespace

TokenDrawer::TokenDrawer(std::int64_t vocabulary, model::Kernels kernels)
    : kernels_(kernels), reader_(vocabulary, kernels) {}

std::vector<std::optional<Drawn>> TokenDrawer::draw(const at::Tensor& logits, std::span<const DrawTask> tasks) const {
  return kernels_ == model::Kernels::operators ? draw_by_operators(logits, tasks) : draw_on_host(logits, tasks);
}

std::vector<std::optional<Drawn>> TokenDrawer::draw_on_host(const at::Tensor& logits,
                                                            std::span<const DrawTask> tasks) const {
  const auto host = on_host(logits);
  std::vector<std::optional<BlockMasses>> masses(static_cast<std::size_t>(host.size(0)));
  std::vector<std::int64_t> rows;
  for (const auto& task : tasks) {
    rows.push_back(task.row);
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  at::parallel_for(0, std::ssize(rows), 4, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i) {
      const auto row = rows[static_cast<std::size_t>(i)];
      masses[static_cast<std::size_t>(row)] = plain_masses(row_of(host, row));
    }
  });
  std::vector<std::optional<Drawn>> drawn(tasks.size());
  at::parallel_for(0, std::ssize(tasks), 4, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      const auto& task = tasks[i];
      const auto& plain = masses[static_cast<std::size_t>(task.row)];
      if (plain) {
        const auto row = row_of(host, task.row);
        const auto penalty = task.asked->repetition_penalty;
        const auto id = penalty == 1
                            ? next_token(row, *plain, *task.asked, task.step)
                            : next_token(penalized(row, task.prompt, task.added, penalty), *task.asked, task.step);
        drawn[i] = {id, static_cast<double>(row[static_cast<std::size_t>(id)]) - log_total(*plain)};
      }
    }
  });
  return drawn;
}

std::vector<std::optional<Drawn>> TokenDrawer::draw_by_operators(const at::Tensor& logits,
                                                                 std::span<const DrawTask> tasks) const {
  std::vector<DrawTask> plain;
  std::vector<DrawTask> moved;
  for (const auto& task : tasks) {
    (task.asked->repetition_penalty == 1 ? plain : moved).push_back(task);
  }
  const auto of_plain = plain.empty() ? std::vector<TokenId>{} : MatrixDraws(logits, plain).run();
  std::vector<TokenId> of_moved;
  if (!moved.empty()) {
    const auto changed = penalized_rows(logits, moved);
    of_moved = MatrixDraws(changed, moved).run();
  }
  std::vector<TokenAtRow> wanted;
  auto next_plain = of_plain.begin();
  auto next_moved = of_moved.begin();
  for (const auto& task : tasks) {
    wanted.push_back({task.row, task.asked->repetition_penalty == 1 ? *next_plain++ : *next_moved++});
  }
  const auto logprobs = reader_.log_probabilities(logits, logits.size(0), wanted);
  std::vector<std::optional<Drawn>> drawn;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    drawn.push_back(std::isfinite(logprobs[i]) ? std::optional(Drawn{wanted[i].token, logprobs[i]}) : std::nullopt);
  }
  return drawn;
}

}  // namespace stereosweep::engine
