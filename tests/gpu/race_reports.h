#pragma once

namespace che {

// Races that ThreadSanitizer has reported so far; always 0 without it.
int race_reports();

// Lets the process succeed in spite of `count` reports: of races that a test plants.
void expect_races(int count);

// Whether ThreadSanitizer watches.
#ifdef __SANITIZE_THREAD__
constexpr bool kFindsRaces = true;
#else
constexpr bool kFindsRaces = false;
#endif

// Whether AddressSanitizer watches.
#ifdef CHE_ASAN
constexpr bool kFindsAccesses = true;
#else
constexpr bool kFindsAccesses = false;
#endif

}  // namespace che
