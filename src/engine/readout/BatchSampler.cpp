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

// Rows with penalties that exist at once; also what keeps their places in 31 bits.
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

// Draws from the rows of one matrix where it is. `start` asks the device for all that the draws need, `finish` reads
// it.
class MatrixDraws {
 public:
  // `plain`: the logits before penalties; `plain_rows`: the row there of every task.
  MatrixDraws(at::Tensor matrix, at::Tensor plain, std::vector<DrawTask> tasks, std::vector<std::int64_t> plain_rows)
      : matrix_(std::move(matrix)),
        plain_(std::move(plain)),
        tasks_(std::move(tasks)),
        plain_rows_(std::move(plain_rows)) {
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      switch (restriction_of(*tasks_[i].asked, static_cast<std::size_t>(width()))) {
        case Restriction::largest:
          largest_.push_back(i);
          break;
        case Restriction::none:
          free_.push_back(i);
          break;
        case Restriction::top_k:
          restricted_[tasks_[i].asked->top_k + std::int64_t{1}].tasks.push_back(i);
          break;
        case Restriction::nucleus:
          restricted_[nucleus].tasks.push_back(i);
      }
    }
  }

  // Appends what is to be brought to the host.
  void start(std::vector<at::Tensor>& parts) {
    first_part_ = parts.size();
    std::vector<at::Tensor> ids;
    if (!largest_.empty()) {
      ids.push_back(largest_ids());
    }
    if (!free_.empty()) {
      ids.push_back(free_ids());
    }
    if (!ids.empty()) {
      auto chosen = largest_;
      chosen.insert(chosen.end(), free_.begin(), free_.end());
      const auto all = at::cat(ids);
      const auto begins = base::mapped(
          chosen, [this](std::size_t task) -> std::int32_t { return begin_of(plain_, plain_rows_[task]); });
      parts.push_back(all);
      parts.push_back(numbers_at(plain_, all.add(model::on_device(begins, device()))));
    }
    for (auto& [kept, some] : restricted_) {
      start_restricted(kept, some, parts);
    }
  }

  // One for each task, its logit before any penalty; of rows that are not finite some token.
  std::vector<Logit> finish(const std::vector<at::Tensor>& parts) {
    std::vector<Logit> choices(tasks_.size());
    auto part = parts.begin() + static_cast<std::ptrdiff_t>(first_part_);
    if (!largest_.empty() || !free_.empty()) {
      const auto* id = (part++)->const_data_ptr<std::int32_t>();
      const auto* logit = (part++)->const_data_ptr<float>();
      for (const auto& some : {largest_, free_}) {
        for (const auto task : some) {
          choices[task] = {*id++, *logit++};
        }
      }
    }
    for (const auto& [kept, some] : restricted_) {
      for (std::size_t i = 0; i < some.tasks.size(); ++i) {
        choices[some.tasks[i]] = draw_restricted(some, i, part);
      }
      part += some.num_parts;
    }
    return choices;
  }

 private:
  static constexpr std::int64_t nucleus = 0;  // no number of kept logits
  using Parts = std::vector<at::Tensor>::const_iterator;

  // Tasks that draw among the largest logits of their rows: these, their columns, their logits before penalties where
  // there is one, and the sums of the rows' weights where a nucleus needs them.
  struct Restricted {
    std::vector<std::size_t> tasks;
    std::vector<Heated> heated;  // sorted, distinct; empty: no sums
    std::ptrdiff_t num_parts = 0;
  };

  // Block masses and largest logits of rows at temperatures.
  struct Weights {
    at::Tensor masses;  // [heated, blocks] float64
    at::Tensor most;    // [heated, 1] float64
  };

  std::int64_t width() const { return matrix_.size(1); }
  at::Device device() const { return matrix_.device(); }
  double unit(std::size_t task) const { return unit_of(*tasks_[task].asked, tasks_[task].step); }
  Heated heated(std::size_t task) const { return {tasks_[task].row, tasks_[task].asked->temperature}; }

  std::vector<Heated> heated_of(const std::vector<std::size_t>& some) const {
    return sorted_distinct(base::mapped(some, [this](std::size_t task) { return heated(task); }));
  }

  // [tasks] int32
  at::Tensor largest_ids() const {
    const auto rows = base::mapped(largest_, [this](std::size_t task) { return tasks_[task].row; });
    return at::argmax(matrix_, 1).to(at::kInt).index_select(0, model::on_device(narrowed(rows), device()));
  }

  Weights weigh(const std::vector<Heated>& all) const {
    const auto at_once = std::max<std::int64_t>(1, most_weight_bytes / (8 * width()));
    const auto blocks = (width() + block_columns - 1) / block_columns;
    std::vector<at::Tensor> masses;
    std::vector<at::Tensor> largest;
    for (std::int64_t begin = 0; begin < std::ssize(all); begin += at_once) {
      const auto count = std::min(at_once, std::ssize(all) - begin);
      std::vector<std::int32_t> rows;
      std::vector<double> temperatures;
      for (const auto& [row, temperature] : std::span(all).subspan(begin, count)) {
        rows.push_back(static_cast<std::int32_t>(row));
        temperatures.push_back(temperature);
      }
      model::Staging staging;
      const auto row_list = staging.add(rows);
      const auto divisors = staging.add(temperatures);
      staging.send(device());
      const auto wide = matrix_.index_select(0, staging.at(row_list)).to(at::kDouble);
      largest.push_back(at::amax(wide, 1, true));
      const auto weights = wide.sub(largest.back()).div_(staging.at(divisors).unsqueeze(1)).exp_();
      const auto padded = at::constant_pad_nd(weights, {0, blocks * block_columns - width()});
      masses.push_back(padded.view({count, blocks, block_columns}).sum(2));
    }
    return {at::cat(masses), at::cat(largest)};
  }

  // Block sums choose the block, and its own weights the token: [tasks] int32
  at::Tensor free_ids() const {
    const auto all = heated_of(free_);
    const auto weights = weigh(all);
    std::vector<std::int32_t> places;
    std::vector<std::int32_t> begins;
    std::vector<double> units;
    std::vector<double> temperatures;
    for (const auto task : free_) {
      places.push_back(place_in(all, heated(task)));
      begins.push_back(begin_of(matrix_, tasks_[task].row));
      units.push_back(unit(task));
      temperatures.push_back(tasks_[task].asked->temperature);
    }
    model::Staging staging;
    const std::array lists{staging.add(places), staging.add(begins), staging.add(units), staging.add(temperatures)};
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

  void start_restricted(std::int64_t kept, Restricted& some, std::vector<at::Tensor>& parts) const {
    const auto before = parts.size();
    const auto wanted = kept == nucleus ? static_cast<std::int64_t>(usual_nucleus) : kept;
    const auto [values, columns] = at::topk(matrix_, std::min(wanted, width()), 1);
    parts.push_back(values);
    parts.push_back(columns.to(at::kInt));
    if (!plain_.is_same(matrix_)) {
      std::vector<std::int32_t> begins(static_cast<std::size_t>(matrix_.size(0)));
      for (const auto task : some.tasks) {
        begins[static_cast<std::size_t>(tasks_[task].row)] = begin_of(plain_, plain_rows_[task]);
      }
      const auto places = parts.back().add(model::on_device(begins, device()).unsqueeze(1));
      parts.push_back(numbers_at(plain_, places.flatten()).view(columns.sizes()));
    }
    if (kept == nucleus) {
      some.heated = heated_of(some.tasks);
      parts.push_back(weigh(some.heated).masses.sum(1));
    }
    some.num_parts = static_cast<std::ptrdiff_t>(parts.size() - before);
  }

  // Task number i of `some`. The whole row comes where its largest logits do not decide.
  Logit draw_restricted(const Restricted& some, std::size_t i, Parts part) const {
    const auto task = some.tasks[i];
    const auto& asked = *tasks_[task].asked;
    const auto place = tasks_[task].row;
    const auto numbers = row_of(part[0], place);
    if (!all_finite(numbers)) {
      return {};  // a NaN is among the largest
    }
    RowMass row{static_cast<std::size_t>(width()), 0};
    if (!some.heated.empty()) {
      row.total = part[some.num_parts - 1].const_data_ptr<double>()[place_in(some.heated, heated(task))];
    }
    if (const auto decided = candidates_among(logits_at(part[0], part[1], place), row, asked)) {
      const auto id = pick(*decided, unit(task));
      const auto plain = logits_at(part[plain_.is_same(matrix_) ? 0 : 2], part[1], place);
      return {id, std::ranges::find(plain, id, &Logit::id)->value};
    }
    const auto whole = on_host(matrix_.narrow(0, tasks_[task].row, 1));
    const auto id = pick(candidates(row_of(whole, 0), asked), unit(task));
    const auto plain = plain_.is_same(matrix_) ? whole : on_host(plain_.narrow(0, plain_rows_[task], 1));
    return {id, row_of(plain, 0)[static_cast<std::size_t>(id)]};
  }

  at::Tensor matrix_;
  at::Tensor plain_;
  std::vector<DrawTask> tasks_;
  std::vector<std::int64_t> plain_rows_;
  std::vector<std::size_t> largest_;
  std::vector<std::size_t> free_;
  std::map<std::int64_t, Restricted> restricted_;  // by the number of logits that come
  std::size_t first_part_ = 0;
};

// A row of its own for each task, after its penalty; the tasks then read these rows.
at::Tensor penalized_rows(const at::Tensor& logits, std::vector<DrawTask>& tasks) {
  const auto width = logits.size(1);
  std::vector<std::int32_t> rows;
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
    own = sorted_distinct(std::move(own));
    places.insert(places.end(), own.begin(), own.end());
    factors.resize(places.size(), static_cast<float>(task.asked->repetition_penalty));
    rows.push_back(static_cast<std::int32_t>(std::exchange(task.row, std::ssize(rows))));
  }
  model::Staging staging;
  const std::array lists{staging.add(rows), staging.add(narrowed(places)), staging.add(factors)};
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

std::vector<std::int64_t> rows_of_tasks(std::span<const DrawTask> tasks) { return base::mapped(tasks, &DrawTask::row); }

std::vector<std::optional<Drawn>> draw_on_host(const at::Tensor& logits, std::span<const DrawTask> tasks) {
  const auto host = on_host(logits);
  std::vector<std::optional<BlockMasses>> masses(static_cast<std::size_t>(host.size(0)));
  const auto rows = sorted_distinct(rows_of_tasks(tasks));
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

std::vector<std::optional<Drawn>> draw_by_operators(const at::Tensor& logits, std::span<const DrawTask> tasks) {
  std::vector<DrawTask> plain;
  std::vector<DrawTask> moved;
  for (const auto& task : tasks) {
    (task.asked->repetition_penalty == 1 ? plain : moved).push_back(task);
  }
  // Rows with penalties are copies, one for each text: so many at a time as there may be logits.
  const auto at_once = std::max<std::int64_t>(1, most_penalized_bytes / (4 * logits.size(1)));
  std::vector<std::vector<DrawTask>> pieces;
  if (!plain.empty()) {
    pieces.push_back(plain);
  }
  for (std::int64_t begin = 0; begin < std::ssize(moved); begin += at_once) {
    const auto some = std::span(moved).subspan(begin, std::min(at_once, std::ssize(moved) - begin));
    pieces.emplace_back(some.begin(), some.end());
  }
  std::vector<Logit> choices;
  at::Tensor sums;
  for (std::size_t next = 0; next < pieces.size();) {
    std::vector<at::Tensor> parts;
    if (next == 0) {
      parts.push_back(checked_sums(logits));
    }
    std::vector<MatrixDraws> started;  // the plain ones with the first that have penalties: one wait for both
    for (bool is_plain = true; is_plain && next < pieces.size(); ++next) {
      auto& piece = pieces[next];
      is_plain = piece.front().asked->repetition_penalty == 1;
      const auto rows = rows_of_tasks(piece);
      const auto matrix = is_plain ? logits : penalized_rows(logits, piece);  // whose rows the tasks then name
      started.emplace_back(matrix, logits, piece, rows);
      started.back().start(parts);
    }
    Download numbers(std::move(parts));
    sums = sums.defined() ? sums : numbers.parts().front();
    for (auto& draws : started) {
      const auto some = draws.finish(numbers.parts());
      choices.insert(choices.end(), some.begin(), some.end());
    }
  }
  auto next_plain = choices.begin();
  auto next_moved = choices.begin() + std::ssize(plain);
  std::vector<std::optional<Drawn>> drawn;
  for (const auto& task : tasks) {
    const auto& choice = task.asked->repetition_penalty == 1 ? *next_plain++ : *next_moved++;
    const auto logprob =
        static_cast<double>(choice.value) - static_cast<double>(sums.const_data_ptr<float>()[task.row]);
    drawn.push_back(std::isfinite(logprob) ? std::optional(Drawn{choice.id, logprob}) : std::nullopt);
  }
  return drawn;
}

}  // namespace

std::vector<std::optional<Drawn>> draw_tokens(const at::Tensor& logits, std::span<const DrawTask> tasks,
                                              model::Kernels kernels) {
  return kernels == model::Kernels::operators ? draw_by_operators(logits, tasks) : draw_on_host(logits, tasks);
}

}  // namespace stereosweep::engine
