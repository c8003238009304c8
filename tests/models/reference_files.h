#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace che {

// The folder of golden numbers: CHE_REFERENCE_DIR, or tests/reference of this checkout.
std::filesystem::path reference_dir();

nlohmann::json read_reference(const std::filesystem::path& path);

// Every *.json in a folder of the reference files, sorted.
std::vector<std::filesystem::path> reference_files(const std::string& folder);

// A tensor object {"axes", "shape", "values"} in double.
at::Tensor reference_tensor(const nlohmann::json& object);

// Likewise for what the published programs read: single-precision values, exactly.
at::Tensor reference_input(const nlohmann::json& object);

// A list of numbers (nested as deep as it is) in double.
at::Tensor reference_list(const nlohmann::json& list);

// The name that this project has for an encoding of the reference files ("ROTARY" -> "rope").
std::string encoding_name(const std::string& reference_name);

// Whether the encoding is registered.
bool encoding_exists(const std::string& name);

// Empty when |a - b| <= tolerance max(1, |b|) everywhere, else what differs most. NaN differs.
std::string difference(const at::Tensor& actual, const at::Tensor& expected, double tolerance);

}  // namespace che
