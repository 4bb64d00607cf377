// nccl_threads SUMS: so many sums over communicators that fail at random moments or end in good order, with a model of
// NCCL's threads (support/NcclModel.cpp). nccl_threads_sanitized reports what two threads do at once. Prints what a sum
// costs the host; exits with 1 where a sum fails without a cause.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/Error.hpp"
#include "parallel/NcclSum.hpp"

namespace {

using namespace stereosweep;
using std::chrono::microseconds;

/// Of one communicator.
struct Round {
  long sums = 0;
  bool was_ended = false;
};

class Rounds {
 public:
  bool run(long wanted) {
    long sums = 0;
    long ended = 0;
    long rounds = 0;
    while (sums < wanted) {
      const auto round = run_one(wanted - sums);
      if (!announced_.empty()) {
        std::printf("announced: %s\n", announced_.c_str());
        return false;
      }
      sums += round.sums;
      ended += round.was_ended ? 1 : 0;
      ++rounds;
    }
    const auto middle = times_.begin() + std::ssize(times_) / 2;
    std::nth_element(times_.begin(), middle, times_.end());
    std::printf("%ld sums, in the middle %.1f us each; %ld communicators, %ld of them aborted\n", sums, *middle, rounds,
                ended);
    return true;
  }

 private:
  microseconds random_time(int most) { return microseconds(std::uniform_int_distribution<int>(0, most)(numbers_)); }

  void refused(const base::Error& error, bool has_failed) {
    if (!has_failed) {
      announced_ = error.what();
    }
  }

  // How many; 0 are wanted: until they are refused.
  long add_up(parallel::NcclSum& sum, long wanted, const std::atomic<bool>& failed) {
    float number = 0;
    long sums = 0;
    try {
      for (; wanted == 0 || sums < wanted; ++sums) {
        const auto start = std::chrono::steady_clock::now();
        sum.add_up(&number, 1, nullptr);
        times_.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
      }
    } catch (const base::Error& error) {
      refused(error, failed);
    }
    return sums;
  }

  Round run_one(long most) {
    std::atomic<bool> failed = false;
    const auto moment = random_time(100'000);
    const auto pause = random_time(40'000);
    std::thread breaker([&] {
      std::this_thread::sleep_for(moment);
      failed = true;
    });
    Round round;
    const long wanted =
        std::min<long>(most, std::uniform_int_distribution<long>(1, 999)(numbers_) * (moment.count() % 3));
    try {
      parallel::NcclSum sum(parallel::NcclSum::make_name(), 0, 1,
                            {[&] { return failed.load(); }, [this](const std::string& cause) { announced_ = cause; }});
      round.sums = add_up(sum, wanted, failed);
      if (failed) {
        std::this_thread::sleep_for(pause);  // the communicators are aborted meanwhile, or end with the round
      }
    } catch (const base::Error& error) {
      refused(error, failed);
    }
    round.was_ended = failed;
    breaker.join();
    return round;
  }

  std::minstd_rand numbers_{1};
  std::string announced_;
  std::vector<double> times_;  // of all sums, us
};

}  // namespace

int main(int argc, char** argv) { return Rounds().run(argc > 1 ? std::atol(argv[1]) : 20'000) ? 0 : 1; }
