#include "run/ExportContexts.hpp"

#include "base/Error.hpp"
#include "base/Log.hpp"
#include "base/Text.hpp"
#include "run/ContextsRun.hpp"
#include "run/ExportDirectory.hpp"

namespace stereosweep::run {
namespace {

results::JournalStore open_journal(const RunDirectory& directory, const std::string& stage, const JournalCheck& check) {
  auto store = results::JournalStore::open(directory.root(), stage);
  if (!store.attempts().empty()) {
    check(store);
  }
  for (const auto& line : store.damage()) {
    base::log(base::LogLevel::warning, line);
  }
  return store;
}

std::string line_of(const std::filesystem::path& file, const ExportSummary& summary, const probe::Probe& probe,
                    const results::JournalStore& store) {
  const auto total = probe.blocks().num_blocks();
  const auto scored = store.records().size();
  return file.string() + ": " + base::with_thousands(scored) + " of " + base::counted(total, "block") + " scored" +
         (scored == total ? "" : ", NOT complete") + "\ndigest " + base::to_hex(summary.digest);
}

}  // namespace

std::vector<std::string> export_contexts(const RunDirectory& directory, const domain::Job& job,
                                         const base::FileSet& files, const JournalCheck& check) {
  const auto source = read_source(directory, job, files);
  if (!source) {
    throw base::InputError(base::describe("'" + directory.root().string() + "' holds nothing to export",
                                          "its contexts are not collected yet", "continue it with 'stereosweep run'"));
  }
  const probe::VectorsProbe vectors(job, source->sample, source->dimension, source->table);
  const auto vectors_journal = open_journal(directory, vectors_stage, check);
  std::vector<std::string> lines;
  if (job.contexts().keep != domain::Contexts::Keep::none && !vectors_journal.attempts().empty()) {
    const auto summary = export_vectors(directory, job, vectors, vectors_journal, nullptr);
    lines.push_back(line_of(directory.vectors_file(), summary, vectors, vectors_journal));
  }
  const auto effects_journal = open_journal(directory, effects_stage, check);
  const auto words = read_words(directory.words());
  if (words && !effects_journal.attempts().empty()) {
    const probe::EffectsProbe effects(job, words->words, nullptr);
    const auto summary = export_effects(directory, job, effects, effects_journal, words->cost, nullptr);
    lines.push_back(line_of(directory.export_file(job), summary, effects, effects_journal));
  }
  if (lines.empty()) {
    throw base::InputError(base::describe("'" + directory.root().string() + "' holds nothing to export",
                                          "no block is in a journal yet", "continue it with 'stereosweep run'"));
  }
  return lines;
}

}  // namespace stereosweep::run
