#include "run/ServerAnswers.hpp"

#include <map>
#include <set>
#include <span>
#include <utility>

#include "base/Error.hpp"
#include "base/Log.hpp"
#include "base/Random.hpp"
#include "base/text/Json.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::run {
namespace {

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class JournaledAnswers final : public server::AnswerStore {
 public:
  JournaledAnswers(const std::filesystem::path& run_directory, std::optional<results::JournalHeader> header)
      : earlier_(results::JournalStore::open(run_directory, answers_folder)) {
    for (const auto& line : earlier_.damage()) {
      base::log(base::LogLevel::warning, line);
    }
    if (header) {
      attempt_ = header->attempt = results::make_attempt_name();
      writer_ = std::make_unique<results::JournalWriter>(run_directory, *header, answers_folder);
    }
  }

  std::optional<std::string> find(const base::Digest& request) override {
    if (const auto known = kept_.find(request); known != kept_.end()) {
      return known->second;
    }
    try {
      if (const auto* record = earlier_.find(request)) {
        return text_of(earlier_.read(*record));
      }
    } catch (const results::DamagedRecord& error) {
      base::log(base::LogLevel::warning, std::string(error.what()) + (writer_ ? ": it is asked again" : ""));
    }
    base::fail_if(!writer_, "an answer of the server is missing", "the journal holds a block that needs it",
                  "The files of journal/answers were deleted or damaged.");
    return std::nullopt;
  }

  /// Two ranks may have asked the same at the same time, so that records are told apart by a number of their own.
  void keep(const base::Digest& request, const std::string& answer) override {
    const auto number = base::stream_of(base::sha256(attempt_ + " " + std::to_string(kept_.size())));
    writer_->stage({request, number, 1, {}}, std::as_bytes(std::span(answer)));
    kept_.emplace(request, answer);
  }

  void commit() override {
    if (writer_) {
      writer_->commit();
    }
  }

 private:
  results::JournalStore earlier_;
  std::string attempt_;
  std::unique_ptr<results::JournalWriter> writer_;  ///< null: nothing is asked
  std::map<base::Digest, std::string> kept_;        ///< in this start
};

}  // namespace

std::unique_ptr<server::AnswerStore> open_answers(const std::filesystem::path& run_directory,
                                                  std::optional<results::JournalHeader> header) {
  return std::make_unique<JournaledAnswers>(run_directory, std::move(header));
}

std::vector<std::string> names_in_answers(const std::filesystem::path& run_directory) {
  const auto store = results::JournalStore::open(run_directory, answers_folder);
  std::set<std::string> names;
  for (const auto& record : store.records()) {
    try {
      const auto answer = base::parse_json(text_of(store.read(record)), "a kept answer");
      const auto model = answer.value("model", "");
      const auto fingerprint = answer.value("fingerprint", "");
      if (!model.empty()) {
        const auto name = model + (fingerprint.empty() ? "" : " (" + fingerprint + ")");
        names.insert(base::excerpt(base::printable(name), 200));  // a server may say anything
      }
    } catch (const base::Error&) {  // damaged: others tell the same
      continue;
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace stereosweep::run
