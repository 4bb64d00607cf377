// What the host adds to the time of a device: blocks of the association probe, with a device that sleeps for each
// batch. Prompts, tokens, batches, folding and keys are those of a run; the device's numbers come from a hash, when
// they are read. Prints shares of the device's time, from the first result to the last. Options: --model DIR (a BERT
// checkpoint: its tokenizer is used) [--blocks N] [--contexts N] [--batch-ms N]
//          [--batch-tokens N] [--set 0|1]
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/ItemBench.hpp"
#include "engine/FakeEngine.hpp"
#include "engine/masked/MaskedEngine.hpp"
#include "probes/SmallJob.hpp"
#include "probes/association/Association.hpp"
#include "run/ranks/Messages.hpp"
#include "run/ranks/Scorer.hpp"
#include "support/RegisteredProbes.hpp"

namespace {

using namespace stereosweep;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr std::int64_t vocabulary = 30522;

// Of a model all that planning asks.
class ShapeAlone : public model::MaskedModel {
 public:
  const model::ModelShape& shape() const override { return shape_; }
  at::Tensor hidden(const model::Packed&, int, std::span<const std::int64_t>) const override { return {}; }
  at::Tensor input_embeddings(std::span<const query::TokenId>) const override { return {}; }
  at::Tensor head_input(const at::Tensor&) const override { return {}; }
  at::Tensor logits(const at::Tensor&) const override { return {}; }
  const at::Tensor& decoder_bias() const override { return bias_; }

 private:
  model::ModelShape shape_{24, 1024, vocabulary, vocabulary, 512, true};
  at::Tensor bias_ = at::zeros({vocabulary});
};

// One batch after the other, each for a fixed time; asked for without waiting.
class SleepingDevice {
 public:
  explicit SleepingDevice(Clock::duration batch) : batch_(batch) {}
  Clock::time_point start(std::uint64_t batches) {
    busy_until_ = std::max(busy_until_, Clock::now()) + static_cast<std::int64_t>(batches) * batch_;
    return busy_until_;
  }

 private:
  Clock::duration batch_;
  Clock::time_point busy_until_{};
};

class SleepingCall : public query::Call {
 public:
  SleepingCall(std::unique_ptr<query::Call> planned, std::unique_ptr<query::Call> numbers, std::int64_t batch_tokens,
               SleepingDevice& device)
      : planned_(std::move(planned)), numbers_(std::move(numbers)), batch_tokens_(batch_tokens), device_(device) {}
  std::uint64_t batches() const {
    return (planned_->cost().distinct_tokens + static_cast<std::uint64_t>(batch_tokens_) - 1) /
           static_cast<std::uint64_t>(batch_tokens_);
  }
  void run() override { done_ = device_.start(batches()); }
  std::vector<query::Answer> read() override {
    std::this_thread::sleep_until(done_);
    numbers_->run();
    return numbers_->read();
  }
  query::EngineCounts cost() const override { return planned_->cost(); }

 private:
  std::unique_ptr<query::Call> planned_;
  std::unique_ptr<query::Call> numbers_;
  std::int64_t batch_tokens_;
  SleepingDevice& device_;
  Clock::time_point done_;
};

class SleepingEngine : public query::Engine {
 public:
  SleepingEngine(const tokenizer::Tokenizer& tokenizer, std::int64_t batch_tokens, SleepingDevice& device)
      : planner_(std::make_unique<ShapeAlone>(), tokenizer, batch_tokens),
        numbers_(tokenizer, 1),
        batch_tokens_(batch_tokens),
        device_(device) {}
  std::unique_ptr<query::Call> plan(std::span<const query::Query> queries) const override {
    return std::make_unique<SleepingCall>(planner_.plan(queries), numbers_.plan(queries), batch_tokens_, device_);
  }

 private:
  engine::MaskedEngine planner_;
  engine::FakeEngine numbers_;
  std::int64_t batch_tokens_;
  SleepingDevice& device_;
};

sweep::Job bench_job(std::int64_t contexts, bool with_set) {
  sweep::Job job = probes::testing::small_job();
  auto& settings = job.settings<probes::association::Association>();
  settings.axes.groups.clear();
  for (int i = 0; i < 48; ++i) {
    const std::string name = "people of group " + std::to_string(i);
    settings.axes.groups.push_back(probes::testing::group(name.c_str(), "bench", name.c_str(), name.c_str()));
  }
  settings.axes.templates.clear();
  for (int i = 0; i < 250; ++i) {  // a block lies in one group
    settings.axes.templates.push_back({"t" + std::to_string(i), "plural",
                                       "In case " + std::to_string(i) + " the {group} are {trait}.",
                                       sweep::NounForm::plural});
  }
  settings.axes.rephrasings.resize(1);
  if (!with_set) {
    settings.measures = {probes::association::Measure::ilps, probes::association::Measure::ilps_star};
  }
  job.execution.contexts_per_block = contexts;
  return job;
}

// Blocks in a row without any overlap: seconds.
double one_after_the_other(const probes::Probe& probe, SleepingEngine& engine, std::uint64_t count) {
  const auto begin = Clock::now();
  for (std::uint64_t i = 0; i < count; ++i) {
    run::score_block(probe, engine, probe.blocks().block(1 + i));
  }
  return Seconds(Clock::now() - begin).count();
}

// As a rank works, from the first result to the last: seconds.
double side_by_side(std::shared_ptr<const probes::Probe> probe, const tokenizer::Tokenizer& tokenizer,
                    std::int64_t batch_tokens, SleepingDevice& device, std::uint64_t count) {
  run::ScorerParts parts;
  parts.probe = probe;
  parts.make_engine = [&] { return std::make_unique<SleepingEngine>(tokenizer, batch_tokens, device); };
  run::Scorer scorer(std::move(parts));
  scorer.wait_until_ready();
  std::uint64_t granted = 0;
  const auto grant = [&] {
    if (granted < count) {
      scorer.submit(probe->blocks().block(1 + granted++));
    }
  };
  for (std::size_t i = 0; i < run::blocks_per_rank; ++i) {
    grant();
  }
  Clock::time_point first;
  for (std::uint64_t done = 0; done < count;) {
    scorer.wait(std::chrono::milliseconds(5));
    while (const auto scored = scorer.poll()) {
      first = done++ == 0 ? Clock::now() : first;
      grant();
    }
  }
  return Seconds(Clock::now() - first).count();
}

void measure(const bench::Options& options) {
  const auto option = [&](const std::string& name, std::int64_t otherwise) {
    return bench::number_option(options, name, otherwise);
  };
  const auto files = base::read_checkpoint_files(options.at("--model"), base::CheckpointPart::all_files);
  const auto tokenizer = tokenizer::Tokenizer::from_files(files);
  const auto batch_tokens = option("--batch-tokens", 16384);
  const auto count = static_cast<std::uint64_t>(option("--blocks", 40));
  const auto job = bench_job(option("--contexts", 250), option("--set", 1) != 0);
  const auto probe = std::make_shared<const probes::association::AssociationProbe>(job, tokenizer);
  const std::chrono::milliseconds batch(option("--batch-ms", 26));
  SleepingDevice device(batch);
  SleepingEngine engine(tokenizer, batch_tokens, device);
  SleepingDevice no_device{Clock::duration(0)};
  SleepingEngine host_alone(tokenizer, batch_tokens, no_device);
  one_after_the_other(*probe, host_alone, 2);  // warms up
  run::InWork in_work;
  std::uint64_t batches = 0;
  std::uint64_t tokens = 0;
  double plan = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    run::BlockWork work(*probe, &host_alone, probe->blocks().block(1 + i), in_work);
    const auto begin = Clock::now();
    work.plan();
    plan += Seconds(Clock::now() - begin).count();
    work.run();
    const auto cost = work.finish({}).id.cost.distinct_tokens;
    tokens += cost;
    batches += (cost + static_cast<std::uint64_t>(batch_tokens) - 1) / static_cast<std::uint64_t>(batch_tokens);
  }
  const double host = one_after_the_other(*probe, host_alone, count);
  const double busy = static_cast<double>(batches) * Seconds(batch).count();
  const double serial = one_after_the_other(*probe, engine, count);
  const double beside = side_by_side(probe, tokenizer, batch_tokens, device, count);
  const double busy_between = busy * static_cast<double>(count - 1) / static_cast<double>(count);
  std::printf("%llu blocks of %.0f tokens in %.2f batches; a batch: device %.1f ms, host %.1f ms (planning %.1f ms)\n",
              static_cast<unsigned long long>(count), static_cast<double>(tokens) / static_cast<double>(count),
              static_cast<double>(batches) / static_cast<double>(count), 1e3 * Seconds(batch).count(),
              1e3 * host / static_cast<double>(batches), 1e3 * plan / static_cast<double>(batches));
  std::printf("the host adds to the device's time: one after the other %.1f %%, side by side %.1f %%\n",
              100 * (serial / busy - 1), 100 * (beside / busy_between - 1));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    bench::Options options;
    for (int i = 1; i + 1 < argc; i += 2) {
      options[argv[i]] = argv[i + 1];
    }
    base::refuse_if(!options.contains("--model"), "--model is missing", "the tokenizer comes from there");
    measure(options);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
