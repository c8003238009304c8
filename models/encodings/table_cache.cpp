#include "models/encodings/table_cache.h"

#include <utility>

namespace che {

at::Tensor TableCache::get(Key key, const std::function<at::Tensor()>& build) {
  constexpr std::size_t kMaxBytes = std::size_t{64} << 20U;
  if (const auto found = tables_.find(key); found != tables_.end()) return found->second;
  const at::Tensor table = build();
  if (bytes_ + table.nbytes() > kMaxBytes) {
    tables_.clear();
    bytes_ = 0;
  }
  bytes_ += table.nbytes();
  return tables_.emplace(std::move(key), table).first->second;
}

}  // namespace che
