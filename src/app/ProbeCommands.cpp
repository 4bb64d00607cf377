#include "app/ProbeCommands.hpp"

#include <array>

#include "app/AssociationCommands.hpp"
#include "app/ContextsCommands.hpp"
#include "app/CoreferenceCommands.hpp"
#include "app/RatingCommands.hpp"
#include "base/Error.hpp"

namespace stereosweep::app {

const ProbeCommands& commands_of(std::string_view probe) {
  static const std::array all = {
      association_commands(),
      rating_commands(),
      coreference_commands(),
      contexts_commands(),
  };
  for (const auto& commands : all) {
    if (commands.probe == probe) {
      return commands;
    }
  }
  throw base::InputError(base::describe("no probe is called '" + std::string(probe) + "'",
                                        "the file was written by another version of this program"));
}

std::string probe_of(const results::ResultFile& file) {
  constexpr std::string_view prefix = "stereosweep/";
  const auto schema = file.text("schema").value_or("");
  return schema.starts_with(prefix) ? schema.substr(prefix.size()) : "";
}

bool is_stage_file(const results::ResultFile& file) { return probe_of(file).find('.') != std::string::npos; }

}  // namespace stereosweep::app
