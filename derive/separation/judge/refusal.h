// The words in which a missing accumulator is explained.
#pragma once

#include "derive/accumulator.h"
#include "derive/separation/normal_form/normal_form.h"
#include "derive/separation/read/cascade.h"

namespace napkin::separation {

/// A term in the user's names, for messages.
[[nodiscard]] std::string term_text(Cascade& cascade, TermId term, bool by_name = true);
/// One sentence at the smallest term that does not separate, and the ways out.
[[nodiscard]] NotApplicable refusal(Cascade& cascade, const Obstacle& obstacle);
/// An output (or an array that another region reads) that carries the streamed axis and depends on
/// folds over it.
[[nodiscard]] NotApplicable output_refusal(Cascade& cascade, ArrayId array);
/// A wire that is rounded after the last chunk, and that what is folded is formed of.
[[nodiscard]] NotApplicable late_storage_refusal(Cascade& cascade, ArrayId wire, ElementType type);
/// A wire that no product keeps a streamed part of, which could be stored in the type asked for.
[[nodiscard]] NotApplicable storage_refusal(Cascade& cascade, ArrayId wire, ElementType type);

/// The refusal with what else can be done: the term is what does not come apart.
[[nodiscard]] NotApplicable with_ways_out(Cascade& cascade, std::string reason,
                                          const std::optional<TermId>& term);

}  // namespace napkin::separation
