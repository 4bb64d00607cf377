// The engine that holds no model, but asks a server. What is answered is kept before it is used.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/files/Sha256.hpp"
#include "query/Engine.hpp"
#include "sweep/Server.hpp"

namespace stereosweep::server {

/// Where answers are kept, so that nothing is asked twice.
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

/// A warning where the server has a list of its models that lacks the job's; else "". Asked once.
std::string missing_name(const sweep::Server& server);

/// The key is read from the environment now.
std::unique_ptr<query::Engine> make_server_engine(const sweep::Server& server, std::unique_ptr<AnswerStore> store);

}  // namespace stereosweep::server
