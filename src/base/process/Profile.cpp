#include "base/process/Profile.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace stereosweep::base::profile {
namespace {

using Clock = std::chrono::steady_clock;

struct Sum {
  double seconds = 0;  // without the spans inside
  std::size_t count = 0;
};
using Sums = std::map<std::string, Sum>;

struct State {
  std::atomic<bool> enabled = false;
  std::mutex lock;  // of what follows
  Clock::time_point start;
  std::function<void()> wait;
  Sums sums;
  Sums sums_apart;
};

State& state() {
  static State all;
  return all;
}

thread_local Span* innermost = nullptr;
thread_local bool is_apart = false;

void wait_for_device() {
  if (is_apart) {
    return;
  }
  std::unique_lock guard(state().lock);
  const auto wait = state().wait;
  guard.unlock();
  if (wait) {
    wait();
  }
}

double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

std::string row(const std::string& name, double time, double total, const std::string& count) {
  char text[160];
  std::snprintf(text, sizeof(text), "%-24s %10.3f s %6.1f %% %12s\n", name.c_str(), time,
                total > 0 ? 100 * time / total : 0, count.c_str());
  return text;
}

/// Adds a row for each; the seconds of all.
double add_rows(std::string& table, const Sums& sums, double total) {
  std::vector<std::pair<std::string, Sum>> rows(sums.begin(), sums.end());
  std::ranges::stable_sort(rows, std::greater<>(), [](const auto& one) { return one.second.seconds; });
  double covered = 0;
  for (const auto& [name, sum] : rows) {
    table += row(name, sum.seconds, total, std::to_string(sum.count) + " x");
    covered += sum.seconds;
  }
  return covered;
}

}  // namespace

void enable() {
  const std::scoped_lock guard(state().lock);
  state().start = Clock::now();
  state().sums.clear();
  state().sums_apart.clear();
  state().enabled = true;
}

void count_apart() { is_apart = true; }

bool is_enabled() { return state().enabled; }

void wait_with(std::function<void()> wait) {
  const std::scoped_lock guard(state().lock);
  state().wait = std::move(wait);
}

Span::Span(const char* name) : name_(state().enabled.load(std::memory_order_relaxed) ? name : nullptr) {
  if (name_ != nullptr) {
    wait_for_device();
    outer_ = std::exchange(innermost, this);
    start_ = Clock::now();
  }
}

Span::~Span() {
  if (name_ == nullptr) {
    return;
  }
  wait_for_device();
  const auto time = Clock::now() - start_;
  innermost = outer_;
  if (outer_ != nullptr) {
    outer_->inner_ += time;
  }
  const std::scoped_lock guard(state().lock);
  auto& sums = is_apart ? state().sums_apart : state().sums;
  auto& sum = sums[name_];
  sum.seconds += seconds(time - inner_);
  sum.count += 1;
}

std::string report() {
  const std::scoped_lock guard(state().lock);
  const double total = seconds(Clock::now() - state().start);
  std::string table = "profile: time of each part without the parts inside it\n";
  const auto covered = add_rows(table, state().sums, total);
  table += row("the rest", total - covered, total, "");
  table += state().sums_apart.empty() ? "" : "beside it, in other threads:\n";
  add_rows(table, state().sums_apart, total);
  return table;
}

}  // namespace stereosweep::base::profile
