// write_association DIR JOB [key=value ...]: a run directory with an association result whose numbers are made up by a
// formula: for tests in Python, and for measuring. No model, no tokenizer.
#include <sys/resource.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "base/files/File.hpp"
#include "config/JobLoader.hpp"
#include "probes/association/Association.hpp"
#include "results/Export.hpp"
#include "results/RawBlock.hpp"
#include "support/RegisteredProbes.hpp"

namespace {

using namespace stereosweep;

constexpr std::uint32_t max_subwords = 3;

/// A number in [0, 1) that looks random and depends on its arguments alone.
double scatter(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  auto x = a * 0x9E3779B97F4A7C15U + b * 0xBF58476D1CE4E5B9U + c * 0x94D049BB133111EBU + 1;
  for (int round = 0; round < 3; ++round) {
    x ^= x >> 31;
    x *= 0xD6E8FEB86659FD93U;
  }
  return static_cast<double>(x >> 11) * 0x1p-53;
}

/// Association of subject and word: what the scores recover, with noise from the context and the subword.
double number(const std::string& cube, std::uint64_t subject, std::uint64_t word, std::uint64_t context,
              std::uint64_t subword) {
  const auto association = scatter(subject, word / 2, 1) - 0.5;
  const auto noise = scatter(context, word, subword) - 0.5;
  if (cube.starts_with("set_distance")) {
    const auto d = 0.5 - 0.3 * association + 0.4 * noise + (cube.ends_with("plain") ? 0.05 : 0.0);
    return noise > 0.499 ? 1.25 : noise < -0.499 ? 0.0 : d;
  }
  if (cube.starts_with("log_mass")) {
    return -0.1 - scatter(context, subword, 3);
  }
  return -5 + 3 * association + noise;
}

class Numbers {
 public:
  Numbers(const results::RawSchema& schema, std::uint64_t contexts_per_subject)
      : schema_(schema), contexts_per_subject_(contexts_per_subject) {}

  results::RawBlock block(const sweep::Block& block) const {
    auto raw = results::unscored_block(schema_, block.num_contexts);
    for (std::uint64_t index = 0; index < block.num_contexts; ++index) {
      const auto context = block.first_context + index;
      for (std::size_t cube = 0; cube < schema_.cubes.size(); ++cube) {
        std::visit([&](auto& values) { fill(values, schema_.cubes[cube].name, index, context); }, raw.columns[cube]);
      }
    }
    return raw;
  }

 private:
  std::uint64_t num_words() const { return schema_.inner_axes.front().labels.size(); }
  static std::int32_t num_subwords(std::uint64_t word) { return static_cast<std::int32_t>(1 + word % max_subwords); }

  void fill(std::vector<double>& values, const std::string& cube, std::uint64_t index, std::uint64_t context) const {
    for (std::uint64_t word = 0; word < num_words(); ++word) {
      for (std::uint64_t subword = 0; subword < static_cast<std::uint64_t>(num_subwords(word)); ++subword) {
        values[(index * num_words() + word) * max_subwords + subword] =
            number(cube, context / contexts_per_subject_, word, context, subword);
      }
    }
  }
  void fill(std::vector<std::int32_t>& values, const std::string& cube, std::uint64_t index, std::uint64_t) const {
    if (cube == "num_subwords") {
      for (std::uint64_t word = 0; word < num_words(); ++word) {
        values[index * num_words() + word] = num_subwords(word);
      }
    }
  }
  void fill(std::vector<std::uint8_t>& values, const std::string&, std::uint64_t index, std::uint64_t) const {
    std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(index * num_words()), num_words(), std::uint8_t{0});
  }
  void fill(std::vector<float>&, const std::string& cube, std::uint64_t, std::uint64_t) const {
    throw std::logic_error("association has no float32 cube: " + cube);
  }
  void fill(std::vector<std::string>& values, const std::string& cube, std::uint64_t index,
            std::uint64_t context) const {
    values[index] = cube == "prompt" ? "Größe " + std::to_string(context) + " {trait} 日本" : "";
  }

  const results::RawSchema& schema_;
  std::uint64_t contexts_per_subject_;
};

int write(const std::filesystem::path& directory, const sweep::Job& job) {
  const auto& settings = job.settings<probes::association::Association>();
  const auto subjects = probes::association::list_subjects(settings);
  const auto schema = results::with_not_scored(probes::association::association_schema(
      settings, subjects, probes::association::list_words(settings.axes.traits), max_subwords));
  const auto contexts_per_subject = settings.axes.templates.size() * settings.axes.rephrasings.size();
  const sweep::BlockPlan blocks(
      sweep::Product({subjects.subjects.size(), settings.axes.templates.size(), settings.axes.rephrasings.size()}),
      static_cast<std::uint64_t>(job.execution.contexts_per_block));
  const Numbers numbers(schema, contexts_per_subject);
  std::filesystem::create_directories(directory);
  base::write_file_atomically(directory / "job.resolved.yaml", config::canonical_dump(job));
  const auto source = [&](const sweep::Block& block) { return std::optional(numbers.block(block)); };
  results::export_run({job.name,
                       job.probe_name(),
                       &schema,
                       &blocks,
                       source,
                       {{"created", "2026-11-21T00:00:00Z"}, {"model", "made up by a formula"}},
                       {{"job_yaml", "# größe\n"}, {"job_resolved", config::canonical_dump(job)}}},
                      directory / "association.h5");
  results::RawDigest digest(schema);
  for (std::uint64_t index = 0; index < blocks.num_blocks(); ++index) {
    digest.add(numbers.block(blocks.block(index)));
  }
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  std::printf("%s %ld KiB\n", base::to_hex(digest.finish()).c_str(), usage.ru_maxrss);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: write_association DIR JOB [key=value ...]\n", stderr);
    return 2;
  }
  try {
    return write(argv[1], config::load_jobs(argv[2], {argv + 3, argv + argc}).front());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
