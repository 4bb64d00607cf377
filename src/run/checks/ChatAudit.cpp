#include "run/checks/ChatAudit.hpp"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/Error.hpp"
#include "base/files/Sha256.hpp"
#include "base/text/Text.hpp"
#include "chat/TemplateChild.hpp"
#include "chat/TemplateSource.hpp"
#include "chat/Writing.hpp"
#include "results/RawBlock.hpp"

namespace stereosweep::run {
namespace {

constexpr std::size_t conversations_at_once = 1000;

using Conversation = std::vector<chat::Message>;

base::Digest digest_of(const Conversation& conversation) {
  base::Sha256 hash;
  for (const auto& message : conversation) {
    hash.number(static_cast<std::uint64_t>(message.role)).field(message.content);
  }
  return hash.finish();
}

void compare(const chat::ChatTemplate& chat, const chat::TemplateSource& source,
             const std::vector<Conversation>& conversations) {
  const auto rendered = chat::render_with_template(source, chat::settings_of(*chat.origin), conversations);
  for (std::size_t i = 0; i < conversations.size(); ++i) {
    const auto written = chat::write_chat(chat, conversations[i]);
    const auto* text = std::get_if<std::string>(&rendered[i]);
    if (text == nullptr || *text != written) {
      const auto other = text == nullptr ? std::get<chat::Refusal>(rendered[i]).why : *text;
      base::fail("the model was given another text than its chat template writes",
                 "for " + base::json_quote(base::excerpt(conversations[i].back().content, 200)) + " it was given " +
                     base::json_quote(base::excerpt(written, 2000)) + ", the template writes " +
                     base::json_quote(base::excerpt(other, 2000)),
                 "Do not use this run's numbers. Write the template's pieces into model.chat, and start anew.");
    }
  }
}

/// Returns how many conversations were compared. Throws as audit_chat; InputError where the template cannot be run
/// here, or is another one.
std::uint64_t compare_all(const sweep::Job& job, const probes::Probe& probe, const results::JournalStore& journal) {
  const auto& origin = *job.model.chat->origin;
  const auto source = chat::find_template(job.model.location(), origin.name);
  base::refuse_if(!source || base::to_hex(base::sha256(source->text)) != origin.sha256,
                  "the chat template of '" + job.model.location() + "' is another one than the run's",
                  "its SHA-256 was " + origin.sha256);
  std::set<base::Digest> seen;
  std::vector<Conversation> waiting;
  for (const auto& record : journal.records()) {
    const auto block = probe.blocks().block(record.block_index);
    probe.each_conversation(block, *journal.read_block(block, probe.schema()), [&](const auto& conversation) {
      if (seen.insert(digest_of(conversation)).second) {
        waiting.push_back(conversation);
      }
      if (waiting.size() == conversations_at_once) {
        compare(*job.model.chat, *source, std::exchange(waiting, {}));
      }
    });
  }
  compare(*job.model.chat, *source, waiting);
  return seen.size();
}

}  // namespace

ChatAudit audit_chat(const sweep::Job& job, const probes::Probe& probe, const results::JournalStore& journal) {
  if (!job.model.chat || !job.model.chat->origin) {
    return {};
  }
  try {
    const auto compared = compare_all(job, probe, journal);
    return {compared == 0 ? ""
                          : base::counted(compared, "conversation") +
                                " as the model's own chat template writes them (each rendered once more)"};
  } catch (const base::InputError& fault) {
    return {std::string("the conversations were not rendered a second time: ") + fault.what(), base::LogLevel::warning};
  }
}

}  // namespace stereosweep::run
