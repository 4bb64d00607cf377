#include "run/ranks/Progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "base/Log.hpp"
#include "base/process/Environment.hpp"
#include "base/text/Text.hpp"
#include "probes/PlanText.hpp"

namespace stereosweep::run {
namespace {

constexpr Seconds window{60};
constexpr Seconds bar_interval{0.2};
constexpr double weight_of_newest = 0.2;
constexpr std::size_t default_columns = 80;

std::string rounded(double value) { return base::with_thousands(static_cast<std::uint64_t>(std::llround(value))); }

/// Of the terminal that standard error ends on; nothing: it ends elsewhere.
std::optional<std::size_t> columns_of_bar() { return base::terminal_columns(STDERR_FILENO, default_columns); }

std::string bar(const RunStatus& status) {
  constexpr std::uint64_t width = 20;
  const auto filled = status.blocks_total == 0 ? width : width * status.blocks_done / status.blocks_total;
  return "[" + std::string(filled, '#') + std::string(width - filled, '.') + "] ";
}

/// What a line says, the most important first.
std::vector<std::string> parts_of(const RunStatus& status) {
  using base::with_thousands;
  std::vector<std::string> parts = {(status.stage.empty() ? "" : status.stage + ": ") +
                                    with_thousands(status.blocks_done) + "/" + with_thousands(status.blocks_total) +
                                    " blocks"};
  if (status.blocks_resumed > 0) {
    parts.front() += " (resumed " + with_thousands(status.blocks_resumed) + ")";
  }
  if (status.blocks_reused > 0) {
    parts.front() += " (reused " + with_thousands(status.blocks_reused) + ")";
  }
  if (status.state == "exporting" && status.blocks_exported > 0) {
    parts.push_back(with_thousands(status.blocks_exported) + " exported");
  }
  if (status.seconds_left > 0) {
    parts.push_back(hours(status.seconds_left) + " left");
  }
  parts.push_back(with_thousands(status.cells_done) + "/" + with_thousands(status.cells_total) + " cells");
  parts.push_back(rounded(status.cells_per_second) + " cells/s");
  parts.push_back(rounded(status.tokens_per_second) + " tokens/s");
  if (!status.slowest.empty() && status.num_ranks > 1) {
    parts.push_back("slowest " + status.slowest);
  }
  return parts;
}

}  // namespace

Progress::Progress(std::vector<std::string> ranks)
    : ranks_(std::move(ranks)),
      longest_block_(ranks_.size(), 0.0),
      seconds_per_block_(ranks_.size(), 0.0),
      samples_{{Clock::now(), 0, 0}},
      interval_(base::seconds_from_environment("STEREOSWEEP_PROGRESS_S", 10)),
      terminal_(columns_of_bar().has_value()) {}

void Progress::add(int rank, std::uint64_t cells, std::uint64_t tokens, double seconds) {
  cells_ += cells;
  tokens_ += tokens;
  auto& longest = longest_block_[static_cast<std::size_t>(rank)];
  longest = std::max(longest, seconds);
  auto& mean = seconds_per_block_[static_cast<std::size_t>(rank)];
  mean = mean == 0 ? seconds : mean + weight_of_newest * (seconds - mean);
}

double Progress::longest_block(int rank) const {
  const auto own = longest_block_[static_cast<std::size_t>(rank)];
  return own > 0 ? own : std::ranges::max(longest_block_);
}

void Progress::estimate(RunStatus& status) {
  const auto now = Clock::now();
  samples_.push_back({now, cells_, tokens_});
  while (samples_.size() > 2 && now - samples_.front().time > window) {
    samples_.pop_front();
  }
  const auto& oldest = samples_.front();
  const double seconds = Seconds(now - oldest.time).count();
  if (seconds > 0) {
    status.cells_per_second = static_cast<double>(cells_ - oldest.cells) / seconds;
    status.tokens_per_second = static_cast<double>(tokens_ - oldest.tokens) / seconds;
  }
  status.seconds_left = status.cells_per_second > 0
                            ? static_cast<double>(status.cells_total - status.cells_done) / status.cells_per_second
                            : 0;
  const auto slowest = std::ranges::max_element(seconds_per_block_);
  if (*slowest > 0) {
    const auto rank = static_cast<std::size_t>(slowest - seconds_per_block_.begin());
    status.slowest = ranks_[rank] + probes::format_number(" (%.3g s per block)", *slowest);
  }
}

bool Progress::report(const RunStatus& status, Moment moment) {
  const auto now = Clock::now();
  const bool last = moment == Moment::last;
  if (terminal_ && (last || now - last_bar_ > bar_interval)) {
    last_bar_ = now;
    const auto text =
        "\r\x1b[K" + terminal_line(status, columns_of_bar().value_or(default_columns)) + (last ? "\n" : "");
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
    base::set_open_line(last ? base::OpenLine::none : base::OpenLine::bar);
  }
  if (!last && now - last_line_ < interval_) {
    return false;
  }
  last_line_ = now;
  if (!terminal_) {
    base::log(base::LogLevel::info, progress_line(status));
  }
  return true;
}

std::string hours(double seconds) {
  const auto total = static_cast<std::uint64_t>(std::llround(seconds));
  std::array<char, 64> text{};
  const int length =
      std::snprintf(text.data(), text.size(), "%llu:%02llu:%02llu", static_cast<unsigned long long>(total / 3600),
                    static_cast<unsigned long long>(total / 60 % 60), static_cast<unsigned long long>(total % 60));
  return {text.data(), static_cast<std::size_t>(length)};
}

std::string terminal_line(const RunStatus& status, std::size_t columns) {
  auto line = bar(status);
  const char* before = "";
  for (const auto& part : parts_of(status)) {
    if (line.size() + std::strlen(before) + part.size() < columns) {
      line += before + part;
      before = ", ";
    }
  }
  return line.substr(0, std::max<std::size_t>(columns, 2) - 1);  // of a terminal narrower than the bar
}

std::string progress_line(const RunStatus& status) { return base::join(parts_of(status), ", "); }

std::string work_text(const query::EngineCounts& cost) {
  using base::with_thousands;
  return with_thousands(cost.queries) + " queries, " + with_thousands(cost.distinct_sequences) +
         " distinct sequences, " + with_thousands(cost.distinct_tokens) + " tokens in them, " +
         with_thousands(cost.head_rows) + " rows of the vocabulary";
}

}  // namespace stereosweep::run
