// Where answers are kept, so that nothing is asked twice.
#pragma once

#include <optional>
#include <string>

#include "base/files/Sha256.hpp"

namespace stereosweep::server {

class AnswerStore {
 public:
  AnswerStore() = default;
  AnswerStore(const AnswerStore&) = delete;
  AnswerStore& operator=(const AnswerStore&) = delete;
  virtual ~AnswerStore() = default;
  /// What was kept under the hash of a request, in this start or an earlier one.
  virtual std::optional<std::string> find(const base::Digest& request) = 0;
  virtual void keep(const base::Digest& request, const std::string& answer) = 0;
  /// What was kept stays, whatever becomes of the process. Throws Error with the system's cause.
  virtual void commit() = 0;
};

}  // namespace stereosweep::server
