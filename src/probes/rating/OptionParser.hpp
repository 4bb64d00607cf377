// Which option of a multiple-choice question an answer in free text names. The rules are in the room's README.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stereosweep::probes::rating {

enum class AnswerStatus : std::uint8_t {
  ok,
  no_answer,        ///< text that names no option
  several_answers,  ///< more than one option, or a letter and another option's text
  negated,          ///< options are named only to be denied: "not very"
  refused,          ///< declines to answer
  empty,            ///< white space only
  too_long,         ///< the prompt is beyond the model's positions
  engine_error,     ///< the engine gave no text
};
/// Names in the order of AnswerStatus, as the status cube's flag meanings.
inline const std::vector<std::string> answer_status_names = {"ok",      "no_answer", "several_answers", "negated",
                                                             "refused", "empty",     "too_long",        "engine_error"};

struct ParsedAnswer {
  AnswerStatus status = AnswerStatus::no_answer;
  std::size_t option = 0;  ///< index into the options; only with `ok`
};

/// Options in the order in which they were listed: the first has the letter A.
class AnswerParser {
 public:
  explicit AnswerParser(const std::vector<std::string>& options);
  ParsedAnswer parse(std::string_view text) const;

 private:
  std::vector<std::string> options_;  ///< lower case
};

}  // namespace stereosweep::probes::rating
