#pragma once

#include "experiments/analysis/paper_agreement.h"
#include "tables/formats/table.h"

namespace che {

// One row per task; `table` is where the agreement comes from, with trivial baselines.
Table agreement_table(const PaperAgreement& agreement, const ResultTable& table);

}  // namespace che
