// Cells per second of the association probe on one core: asking, folding, hashing and serialising, with the fake
// engine's own time beside it. 51 groups x 35 templates x 118 words, all measures and ILPS alone.
#include <chrono>
#include <cstdio>
#include <functional>

#include "engine/FakeEngine.hpp"
#include "probes/SmallJob.hpp"
#include "probes/TinyTokenizers.hpp"
#include "probes/association/Association.hpp"
#include "support/RegisteredProbes.hpp"

namespace {

using namespace stereosweep;

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Two thirds of the words are one token, the others two to four, as on a real vocabulary.
sweep::Job bench_job() {
  sweep::Job job = probes::testing::small_job();
  const std::vector<std::string> single = {"warm", "kind", "cold", "power", "old"};
  const std::vector<std::string> ends = {"ful", "less", "fulness", "lessness", "ness"};
  job.settings<probes::association::Association>().axes.traits.clear();
  for (int i = 0; i < 59; ++i) {
    const std::string left = i % 3 == 2 ? single[i % 5] + ends[i / 3 % 5] : single[i % 5];
    const std::string right = i % 3 == 1 ? "un" + single[i % 5] + ends[i / 7 % 5] : std::string(1, char('b' + i % 24));
    job.settings<probes::association::Association>().axes.traits.push_back(
        {"pair" + std::to_string(i), "bench", {"left", {left}}, {"right", {right}}});
  }
  for (int i = 0; i < 48; ++i) {
    const std::string name = "people of group " + std::to_string(i);
    job.settings<probes::association::Association>().axes.groups.push_back(
        probes::testing::group(name.c_str(), "bench", name.c_str(), name.c_str()));
  }
  for (int i = 0; i < 31; ++i) {
    job.settings<probes::association::Association>().axes.templates.push_back(
        {"t" + std::to_string(i), "plural", "In case " + std::to_string(i) + " the {group} are {trait}.",
         sweep::NounForm::plural});
  }
  job.settings<probes::association::Association>().axes.rephrasings.resize(1);
  return job;
}

void measure(const char* name, const sweep::Job& job, const tokenizer::Tokenizer& tokenizer) {
  const probes::association::AssociationProbe probe(job, tokenizer);
  engine::FakeEngine engine(tokenizer, 1);
  double first = 0;
  double answer = 0;
  double fold = 0;
  double key = 0;
  double serialise = 0;
  std::size_t queries = 0;
  std::size_t bytes = 0;
  for (std::uint64_t i = 0; i < probe.blocks().num_blocks(); ++i) {
    const auto block = probe.blocks().block(i);
    probes::Transcript transcript;
    results::RawBlock raw;
    first += seconds_of([&] { transcript.rounds.push_back(probe.first(block)); });
    answer += seconds_of([&] { transcript.answers.push_back(engine.answer(transcript.rounds[0].queries)); });
    fold += seconds_of([&] { raw = probe.fold(block, transcript); });
    key += seconds_of([&] { probes::block_key(probe, block, {}); });
    serialise += seconds_of([&] {
      base::ByteWriter out;
      raw.write(out);
      bytes += out.bytes().size();
      base::ByteReader in(out.bytes());
      results::RawBlock::read(in, probe.schema(), block.num_contexts);
    });
    queries += transcript.rounds[0].queries.size();
  }
  const double cells = static_cast<double>(probe.blocks().product().num_contexts() * probe.words().size());
  std::printf(
      "%-13s %8.0f cells %7zu queries  first+fold %9.0f cells/s  engine %9.0f  key %10.0f  write+read %9.0f  "
      "%.1f bytes/cell\n",
      name, cells, queries, cells / (first + fold), cells / answer, cells / key, cells / serialise,
      static_cast<double>(bytes) / cells);
}

}  // namespace

int main() {
  const auto tokenizer = probes::testing::word_piece();
  sweep::Job job = bench_job();
  measure("all measures", job, tokenizer);
  job.settings<probes::association::Association>().measures = {probes::association::Measure::ilps};
  measure("ilps alone", job, tokenizer);
}
