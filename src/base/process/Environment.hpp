// Numbers that come from the environment: limits of waiting and intervals, never anything that enters a result.
#pragma once

#include <filesystem>
#include <string>

namespace stereosweep::base {

/// Seconds from a variable; `otherwise` if it is not set. Throws InputError unless it is a positive number.
double seconds_from_environment(const char* name, double otherwise);
/// Value of a variable; "" if it is not set.
std::string text_from_environment(const char* name);
/// Slurm has started this batch job before.
bool is_requeued();
/// "SLURM_JOB_GPUS=0,1": what tells that Slurm has granted GPUs here; "" if nothing does.
std::string granted_gpus();
/// "2026-11-21T05:00:00Z"
std::string utc_now();

/// Where build/python, which env/setup.sh makes above this program's build/NAME/bin, is expected.
std::filesystem::path python_of_build();
/// $STEREOSWEEP_PYTHON; else python_of_build() where it is; else "".
std::string own_python();

}  // namespace stereosweep::base
