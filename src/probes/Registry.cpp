#include "probes/Registry.hpp"

#include "probes/ProbeKind.hpp"
#include "probes/association/Association.hpp"
#include "probes/contexts/Contexts.hpp"
#include "probes/coreference/Coreference.hpp"
#include "probes/interview/Interview.hpp"
#include "probes/rating/Rating.hpp"

namespace stereosweep::probes {

void register_probes() {
  config::add_probe_format(association::association_kind());
  config::add_probe_format(rating::rating_kind());
  config::add_probe_format(coreference::coreference_kind());
  config::add_probe_format(contexts::contexts_kind());
  config::add_probe_format(interview::interview_kind());
}

}  // namespace stereosweep::probes
