#include "engine/EngineFactory.hpp"

#include <ATen/Version.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <caffe2/core/common.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/process/Profile.hpp"
#include "base/text/JsonValue.hpp"
#include "engine/FakeEngine.hpp"
#include "engine/OutOfMemory.hpp"
#include "engine/causal/CausalEngine.hpp"
#include "engine/causal/GenerationConfig.hpp"
#include "engine/elmo/ElmoEngine.hpp"
#include "engine/masked/MaskedEngine.hpp"
#include "model/causal/CausalSpecification.hpp"
#include "model/elmo/ElmoCheckpoint.hpp"
#include "model/elmo/ElmoModel.hpp"
#include "model/families/Families.hpp"
#include "model/kernels/Kernels.hpp"
#include "model/masked/MaskedModel.hpp"

namespace stereosweep::engine {
namespace {

constexpr int max_threads = 1024;  // as in a job: far more than a machine has only seem to hang

// What follows `key` and some space in `text`, up to a character of `ends`; "" where there is no `key`.
std::string value_in(const std::string& text, std::string_view key, std::string_view ends) {
  const auto at = text.find(key);
  const auto begin = at == std::string::npos ? at : text.find_first_not_of(" \t:", at + key.size());
  return begin == std::string::npos ? "" : text.substr(begin, text.find_first_of(ends, begin) - begin);
}

bool uses_gpu(const EngineSettings& settings, const base::FileSet& files) {
  return may_use_gpu(settings, files) && model::cuda_ready();
}

/// Hidden state 0 is the embeddings' output.
void require_layer(const base::FileSet& files, const query::Embed& asked, std::int64_t num_layers) {
  base::refuse_if(
      asked.source == query::VectorSource::hidden_state && (asked.layer < -num_layers - 1 || asked.layer > num_layers),
      "'" + files.directory() + "' has no layer " + std::to_string(asked.layer),
      "its layers are 0 to " + std::to_string(num_layers) + ", or -1 to " + std::to_string(-num_layers - 1) +
          " from the last");
}

}  // namespace

std::unique_ptr<query::Engine> make_engine(const EngineSettings& settings, const base::FileSet& files,
                                           const tokenizer::Tokenizer& tokenizer) {
  base::refuse_if(settings.threads < 1 || settings.batch_tokens < 1, "threads and batch_tokens must be at least 1",
                  "nothing can run with less");
  base::refuse_if(settings.threads > max_threads, std::to_string(settings.threads) + " threads",
                  "at most " + std::to_string(max_threads) + " are started");
  if (settings.kind == query::EngineKind::fake) {
    return std::make_unique<FakeEngine>(tokenizer, settings.seed);
  }
  const base::profile::Span span("loading");
  model::configure_threads(settings.threads);
  if (uses_gpu(settings, files)) {
    base::profile::wait_with([] {
      const c10::impl::VirtualGuardImpl gpu(c10::kCUDA);
      gpu.synchronizeDevice(gpu.getDevice().index());
    });
  }
  prepare_host_memory();
  const bool elmo = base::is_elmo(files);
  const std::string loading = "loading the weights";
  if (!elmo && model::is_causal(files)) {
    CausalSettings causal{settings.batch_tokens, read_end_tokens(files),
                          base::find_json(files, generation_settings).root};
    auto loaded = within_device_memory(loading, [&] {
      return model::CausalModel::load(files, settings.dtype, settings.device, settings.tensor_group);
    });
    return std::make_unique<CausalEngine>(std::move(loaded), tokenizer, std::move(causal));
  }
  base::refuse_if(settings.tensor_group != nullptr,
                  std::string("execution.tensor_parallel with ") + (elmo ? "an ELMo" : "a masked") + " model",
                  "only causal models are cut into slices", "set tensor_parallel: 1");
  if (elmo) {
    return std::make_unique<ElmoEngine>(model::ElmoModel::load(files, settings.dtype, settings.device), tokenizer,
                                        settings.batch_tokens);
  }
  auto loaded =
      within_device_memory(loading, [&] { return model::MaskedModel::load(files, settings.dtype, settings.device); });
  return std::make_unique<MaskedEngine>(std::move(loaded), tokenizer, settings.batch_tokens);
}

std::uint64_t vector_width(query::EngineKind kind, const base::FileSet& files, const query::Embed& asked) {
  if (kind == query::EngineKind::fake) {
    return FakeEngine::vector_width;
  }
  if (base::is_elmo(files)) {  // both directions; a word's own vector is what both begin with
    const auto options = model::read_elmo_options(files);
    require_layer(files, asked, options.num_layers);
    const auto projection = static_cast<std::uint64_t>(options.projection);
    return asked.source == query::VectorSource::input_embedding ? projection : 2 * projection;
  }
  base::refuse_if(asked.source == query::VectorSource::sum_of_states,
                  "'" + files.directory() + "' cannot be asked for the sum of its layers", "that is ELMo's way",
                  "Name one layer.");
  if (model::is_causal(files)) {
    const auto specification = model::read_causal_specification(files);
    require_layer(files, asked, std::ssize(specification.layers));
    return static_cast<std::uint64_t>(specification.hidden);
  }
  const auto config = model::read_masked_specification(files);
  require_layer(files, asked, std::ssize(config.layers));
  const bool is_word = asked.source == query::VectorSource::input_embedding;
  return static_cast<std::uint64_t>(is_word ? config.embedding_width() : config.hidden);
}

// Not at::show_config(): it asks torch for its devices, which decides whether there is CUDA.
std::string torch_description(Processor processor) {
  const auto& built = caffe2::GetBuildOptions();
  const auto text = built.at("TORCH_VERSION") + " (" + built.at("COMMIT_SHA").substr(0, 9) + "), MKL " +
                    value_in(at::get_mkl_version(), "Math Kernel Library Version ", "-\n") + ", oneDNN " +
                    value_in(at::get_mkldnn_version(), "MKL-DNN v", " \n");
  return processor == Processor::gpu ? text : text + ", " + at::get_cpu_capability();
}

bool may_use_gpu(const EngineSettings& settings, const base::FileSet& files) {
  return settings.kind != query::EngineKind::fake && settings.device != query::Device::cpu && !base::is_elmo(files);
}

void require_gpu(const EngineSettings& settings, const parallel::GpuBinding& gpu) {
  if (gpu.device >= 0) {
    model::require_capable(gpu, settings.dtype);
  } else if (settings.device == query::Device::cuda) {
    base::refuse("no CUDA device", model::cuda_absence(), "use the device cpu");
  }
}

std::string slow_dtype(query::Dtype dtype, int capability) {
  // A100; H100 and H200; B200; B300. On other cards bfloat16 is two to four times as fast.
  constexpr std::array<int, 5> capabilities = {0, 80, 90, 100, 103};
  if (dtype != query::Dtype::float32 || !base::contains(capabilities, capability)) {
    return "";
  }
  return base::describe(
      "model.dtype: float32 runs at about a tenth of the speed of bfloat16 on A100, H100, H200 and B200",
      "their fast units multiply 16-bit numbers, and TF32 is off because it would change the scores",
      "model.dtype: bfloat16 also needs half of the memory");
}

std::string device_description(const EngineSettings& settings, const base::FileSet& files) {
  if (settings.kind == query::EngineKind::fake) {
    return "fake";
  }
  if (uses_gpu(settings, files)) {
    return parallel::current_gpu().name;
  }
  std::ifstream facts("/proc/cpuinfo");
  auto name = value_in({std::istreambuf_iterator<char>(facts), {}}, "model name", "\n");
  name = name.empty() ? "unknown processor" : name;
  return model::kernels_on(c10::kCPU) == model::Kernels::own_kernels ? name : name + ", torch's operators";
}

}  // namespace stereosweep::engine
