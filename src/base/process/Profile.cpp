#include "base/process/Profile.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <utility>

namespace stereosweep::base::profile {
namespace {

using Clock = std::chrono::steady_clock;

struct State {
  std::atomic<bool> enabled = false;
  std::mutex lock;  // of what follows
  Clock::time_point start;
  std::function<void()> wait;
  std::map<std::string, Line> sums;
  std::map<std::string, Line> sums_apart;
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

std::vector<Line> sorted(std::map<std::string, Line> State::*sums) {
  std::vector<Line> all;
  std::unique_lock guard(state().lock);
  for (const auto& [name, sum] : state().*sums) {
    all.push_back(sum);
  }
  guard.unlock();
  std::stable_sort(all.begin(), all.end(), [](const Line& a, const Line& b) { return a.seconds > b.seconds; });
  return all;
}

double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

std::string row(const std::string& name, double time, double total, const std::string& count) {
  char text[160];
  std::snprintf(text, sizeof(text), "%-24s %10.3f s %6.1f %% %12s\n", name.c_str(), time,
                total > 0 ? 100 * time / total : 0, count.c_str());
  return text;
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
  auto& sum = sums.try_emplace(name_, Line{name_}).first->second;
  sum.seconds += seconds(time - inner_);
  sum.count += 1;
}

std::vector<Line> lines() { return sorted(&State::sums); }

std::vector<Line> lines_apart() { return sorted(&State::sums_apart); }

std::string report() {
  std::unique_lock guard(state().lock);
  const double total = seconds(Clock::now() - state().start);
  guard.unlock();
  std::string table = "profile: time of each part without the parts inside it\n";
  double covered = 0;
  for (const auto& line : lines()) {
    table += row(line.name, line.seconds, total, std::to_string(line.count) + " x");
    covered += line.seconds;
  }
  table += row("the rest", total - covered, total, "");
  const auto apart = lines_apart();
  if (!apart.empty()) {
    table += "beside it, in other threads:\n";
  }
  for (const auto& line : apart) {
    table += row(line.name, line.seconds, total, std::to_string(line.count) + " x");
  }
  return table;
}

}  // namespace stereosweep::base::profile
