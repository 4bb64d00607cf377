// Answers of a server, kept beside the journal of the run: DIR/journal/answers, in files of the same form.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "results/Journal.hpp"
#include "server/ServerEngine.hpp"

namespace stereosweep::run {

/// The folder of the answers below DIR/journal, where stages have theirs.
inline constexpr const char* answers_folder = "answers";

/// Of one rank, whose file is its own; all ranks read what earlier starts have kept. `header`: of the run's journal;
/// nothing: the server is not asked again, and it is an Error where an answer is missing.
/// Throws Error where the files cannot be read; what is damaged there is asked again.
std::unique_ptr<server::AnswerStore> open_answers(const std::filesystem::path& run_directory,
                                                  std::optional<results::JournalHeader> header);

/// What the server called itself in the answers of a run: "NAME (fingerprint)", each once.
std::vector<std::string> names_in_answers(const std::filesystem::path& run_directory);

}  // namespace stereosweep::run
