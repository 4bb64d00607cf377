// The engine that holds no model, but asks a server. What is answered is kept before it is used.
#pragma once

#include <memory>
#include <string>

#include "query/Engine.hpp"
#include "server/AnswerStore.hpp"
#include "sweep/Server.hpp"

namespace stereosweep::server {

/// A warning where the server has a list of its models that lacks the job's; else "". Asked once.
std::string missing_name(const sweep::Server& server);

/// The key is read from the environment now.
std::unique_ptr<query::Engine> make_server_engine(const sweep::Server& server, std::unique_ptr<AnswerStore> store);

}  // namespace stereosweep::server
