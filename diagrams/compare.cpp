#include "diagrams/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "diagrams/infinity.h"

namespace napkin {
namespace {

/// Results that a device flushes to zero may be off by this much.
constexpr double kLeastNormal = 0x1p-126;
/// A tolerance that is made of such results alone decides, whatever the values are.
constexpr double kFlushed = 0x1p-120;
constexpr std::size_t kPart = 4096;

struct Totals {
    double difference_squares = 0;
    double reference_squares = 0;
    std::int64_t finite = 0;
    std::int64_t infinite = 0;  ///< and rightly so
    /// Tolerances that are no less than the element, where it passed.
    std::vector<double> wide;
};

/// An exponential of a number, with one in its place whose exponential is neither 0 nor infinite.
Expression held(Expression node) {
    const Apply* call = std::get_if<Apply>(&node.node);
    if (call == nullptr || call->function != Function::Exp) return node;
    constexpr double kMost = 300;
    const Expression& at = call->arguments.front();
    const Expression within =
        apply(Function::Max, {apply(Function::Min, {at, number(kMost)}), number(-kMost)});
    const Expression hidden = apply(Function::Equal, {at, number(-kInfinity)});
    return apply(Function::Exp, {apply(Function::Select, {hidden, at, within})});
}

/// `alike` is of an element beyond its tolerance that roundings of one sign explain.
void judge(Comparison& comparison, Totals& totals, std::span<const std::int64_t> extents,
           std::int64_t offset, double got, double expected, double tolerance, bool alike) {
    ++comparison.compared;
    if (std::isnan(got) && std::isnan(expected)) {
        ++comparison.undefined;
        return;
    }
    const auto note_worst = [&](double ratio) {
        if (!(ratio > comparison.worst_ratio) && comparison.worst_index.size() == extents.size())
            return;
        comparison.worst_ratio = ratio;
        comparison.worst_got = got;
        comparison.worst_expected = expected;
        comparison.worst_index.assign(extents.size(), 0);
        std::int64_t rest = offset;
        for (std::size_t at = extents.size(); at-- > 0;) {
            comparison.worst_index[at] = rest % extents[at];
            rest /= extents[at];
        }
    };
    if (std::isnan(got)) ++comparison.nans;
    if (std::isinf(tolerance) || (std::isnan(tolerance) && std::isfinite(expected))) {
        ++comparison.undecided;
        if (!std::isnan(got)) return;
        ++comparison.failed;
        return note_worst(std::numeric_limits<double>::infinity());
    }
    // What no f32 holds is infinite in each.
    const bool too_large = std::abs(expected) > std::numeric_limits<float>::max();
    if (too_large && std::isfinite(expected) && got == std::copysign(kInfinity, expected)) {
        ++comparison.undecided;
        return;
    }
    // A reference that is NaN cannot be met by a number, and equal infinities have no difference.
    const bool same = got == expected;
    double error = same ? 0 : std::abs(got - expected);
    if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
    const double ratio = std::isnan(tolerance) ? error : error / tolerance;
    if (!(ratio <= 1)) ++comparison.failed;
    if (alike) ++comparison.alike;
    comparison.max_abs_error = std::max(comparison.max_abs_error, error);
    if (expected != 0 && std::isfinite(expected))
        comparison.max_rel_error = std::max(comparison.max_rel_error, error / std::abs(expected));
    if (!std::isnan(tolerance)) comparison.tolerance = std::max(comparison.tolerance, tolerance);
    if (std::isfinite(expected)) {
        totals.difference_squares += error * error;
        totals.reference_squares += expected * expected;
        ++totals.finite;
        if (ratio <= 1 && tolerance > kFlushed && tolerance >= std::abs(expected))
            totals.wide.push_back(tolerance);
    } else if (same) {
        ++totals.infinite;
    }
    note_worst(ratio);
}

/// What only all elements together say.
void summarise(Comparison& comparison, const Totals& totals) {
    comparison.rel_frobenius = std::sqrt(totals.difference_squares);
    if (totals.reference_squares > 0)
        comparison.rel_frobenius /= std::sqrt(totals.reference_squares);
    if (totals.finite > 0)
        comparison.size = std::sqrt(totals.reference_squares / static_cast<double>(totals.finite));
    const bool exact_zeros = comparison.size == 0 && comparison.max_abs_error == 0;
    if (!exact_zeros)
        comparison.undecided += std::count_if(totals.wide.begin(), totals.wide.end(),
                                              [&](double each) { return each >= comparison.size; });
    if (totals.finite == 0) comparison.infinite = totals.infinite;
}

/// Whether roundings of one sign explain what is beyond its tolerance. Once they do not, the result
/// is wrong, and nothing more is asked.
class AlikeRoundings {
public:
    AlikeRoundings(Reference& reference, ArrayId array) : reference_(reference), array_(array) {}
    [[nodiscard]] bool explain(std::int64_t offset, double value) {
        if (!may_explain_) return false;
        const Reference::Elements one =
            reference_.elements_alike(array_, std::vector<std::int64_t>{offset});
        may_explain_ = std::abs(value - one.values.front()) <= one.tolerances.front();
        return may_explain_;
    }

private:
    Reference& reference_;
    ArrayId array_;
    bool may_explain_ = true;
};

/// Whether all of it is, as where a mask hides everything.
bool is_zero(const Comparison& comparison) {
    return comparison.judged() == comparison.compared && comparison.size == 0 &&
           comparison.max_abs_error == 0;
}

}  // namespace

Reference::Reference(const Diagram& diagram, const Tensors& inputs, const Precision& precision)
    : source_(diagram),
      precision_(precision),
      errors_(std::make_unique<ErrorDiagram>(error_diagram(diagram, precision))),
      evaluator_(std::make_unique<Evaluator>(errors_->diagram, inputs)),
      inputs_(&inputs) {}

Reference::Reference(const Diagram& diagram, const Tensors& inputs, const Diagram& executed,
                     const Precision& precision)
    : Reference(diagram, inputs, Precision{.arithmetic = ElementType::F64}) {
    executed_inputs_ = std::make_unique<Tensors>(tensors_in(executed, diagram, inputs));
    executed_ = std::make_unique<Reference>(executed, *executed_inputs_, precision);
}

std::vector<ArrayId> Reference::with_bounds(const std::vector<ArrayId>& arrays) const {
    std::vector<ArrayId> result = arrays;
    for (const ArrayId array : arrays)
        if (const auto bound = errors_->bounds.find(array); bound != errors_->bounds.end())
            result.push_back(bound->second);
    return result;
}

std::vector<ArrayId> Reference::executed_twins(const std::vector<ArrayId>& arrays) const {
    std::vector<ArrayId> twins;
    for (const ArrayId array : arrays) {
        const std::optional<ArrayId> twin = find_array(executed_->diagram(), diagram()[array].name);
        invariant(twin.has_value(), "an output that a rule renamed");
        twins.push_back(*twin);
    }
    return twins;
}

std::optional<WholeWork> Reference::whole_work(const std::vector<ArrayId>& arrays,
                                               const WholeOptions& options) const {
    std::optional<WholeWork> work = napkin::whole_work(diagram(), with_bounds(arrays), options);
    if (!work || !executed_) return work;
    WholeOptions left = options;
    left.most_values -= work->values;
    const std::optional<WholeWork> other = executed_->whole_work(executed_twins(arrays), left);
    if (!other) return std::nullopt;
    return WholeWork{work->multiplications + other->multiplications, work->steps + other->steps,
                     work->values + other->values, work->seconds + other->seconds};
}

void Reference::compute_whole(const std::vector<ArrayId>& arrays) {
    whole_.merge(evaluate_whole(diagram(), *inputs_, with_bounds(arrays)));
    if (executed_) executed_->compute_whole(executed_twins(arrays));
}

std::vector<double> Reference::values_of(ArrayId array, std::span<const std::int64_t> offsets) {
    const auto known = whole_.find(array);
    if (known == whole_.end()) return evaluator_->elements(array, offsets);
    std::vector<double> values;
    for (const std::int64_t offset : offsets)
        values.push_back(known->second.values[static_cast<std::size_t>(offset)]);
    return values;
}

Reference::Elements Reference::elements(ArrayId array, std::span<const std::int64_t> offsets) {
    Elements elements;
    elements.values = values_of(array, offsets);
    elements.tolerances.assign(offsets.size(), kLeastNormal);
    const auto bound = errors_->bounds.find(array);
    if (bound != errors_->bounds.end()) {
        elements.tolerances = values_of(bound->second, offsets);
        for (double& tolerance : elements.tolerances)
            tolerance = kSafety * tolerance + kLeastNormal;
    }
    if (!executed_) return elements;
    const Elements executed = executed_->elements(executed_twins({array}).front(), offsets);
    for (std::size_t at = 0; at < offsets.size(); ++at)
        elements.tolerances[at] += executed.tolerances[at];
    return elements;
}

void Reference::make_alike() {
    if (alike_) return;
    const auto with_alike = [](Precision precision) {
        precision.alike = true;
        return precision;
    };
    alike_ = std::make_unique<Reference>(source_, *inputs_, with_alike(precision_));
    if (!executed_) return;
    alike_->executed_ = std::make_unique<Reference>(executed_->source_, *executed_inputs_,
                                                    with_alike(executed_->precision_));
}

Reference::Elements Reference::elements_alike(ArrayId array,
                                              std::span<const std::int64_t> offsets) {
    make_alike();
    if (whole_.count(array) != 0 && alike_->whole_.count(array) == 0)
        alike_->compute_whole({array});
    return alike_->elements(array, offsets);
}

void Reference::make_held() {
    if (held_) return;
    held_diagram_ = std::make_unique<Diagram>(errors_->diagram);
    const auto hold = [](Expression& node) { node = rewrite(std::move(node), held); };
    for (Statement& statement : held_diagram_->statements) {
        if (Map* map = std::get_if<Map>(&statement.body)) hold(map->value);
        if (Select* select = std::get_if<Select>(&statement.body)) hold(select->value);
        if (Fold* fold = std::get_if<Fold>(&statement.body))
            std::for_each(fold->values.begin(), fold->values.end(), hold);
    }
    held_ = std::make_unique<Evaluator>(*held_diagram_, *inputs_);
}

bool Reference::beyond_double(ArrayId array, std::int64_t offset, double value, double tolerance) {
    make_held();
    // Where all elements are known, many may be asked for.
    if (whole_.count(array) != 0 && held_whole_.count(array) == 0)
        held_whole_.merge(evaluate_whole(*held_diagram_, *inputs_, {array}));
    const auto known = held_whole_.find(array);
    const double other = known != held_whole_.end()
                             ? known->second.values[static_cast<std::size_t>(offset)]
                             : held_->elements(array, std::vector<std::int64_t>{offset}).front();
    const double same = std::isnan(tolerance) ? 0 : tolerance;
    return std::isfinite(other) && !(std::abs(other - value) <= same);
}

Tensors tensors_in(const Diagram& to, const Diagram& from, const Tensors& tensors) {
    Tensors result;
    for (const auto& [array, tensor] : tensors) {
        const std::optional<ArrayId> twin = find_array(to, from[array].name);
        if (!twin || from[array].role == ArrayRole::Intermediate) continue;
        Tensor reshaped = make_tensor(to, *twin);
        invariant(reshaped.values.size() == tensor.values.size(),
                  "a rule changed the size of an input or output");
        reshaped.values = tensor.values;
        result[*twin] = std::move(reshaped);
    }
    return result;
}

Comparison compare(Reference& reference, ArrayId array, const Tensor& got,
                   std::span<const std::int64_t> offsets, std::optional<double> poison) {
    Comparison comparison;
    comparison.name = reference.diagram()[array].name;
    const Tensor shape = make_tensor(reference.diagram(), array);
    invariant(shape.extents == got.extents && shape.values.size() == got.values.size(),
              "a result of another shape than its array");
    std::vector<std::int64_t> all;
    if (offsets.empty()) {
        all.resize(got.values.size());
        std::iota(all.begin(), all.end(), std::int64_t{0});
        offsets = all;
    }
    comparison.sampled = offsets.size() < got.values.size();
    Totals totals;
    AlikeRoundings alike(reference, array);
    for (std::size_t start = 0; start < offsets.size(); start += kPart) {
        const auto part = offsets.subspan(start, std::min(kPart, offsets.size() - start));
        const Reference::Elements elements = reference.elements(array, part);
        for (std::size_t at = 0; at < part.size(); ++at) {
            const double value = got.values[static_cast<std::size_t>(part[at])];
            if (poison && value == *poison) ++comparison.poisoned;
            const double tolerance = elements.tolerances[at];
            const bool differs = !(std::abs(value - elements.values[at]) <= tolerance);
            bool explained = false;
            if (std::isfinite(value) && differs && !std::isinf(tolerance)) {
                if (reference.beyond_double(array, part[at], elements.values[at], tolerance)) {
                    ++comparison.compared;
                    ++comparison.beyond;
                    continue;
                }
                explained = alike.explain(part[at], value);
            }
            judge(comparison, totals, got.extents, part[at], value, elements.values[at], tolerance,
                  explained);
        }
    }
    summarise(comparison, totals);
    comparison.ok = comparison.failed == 0 && comparison.nans == 0 && comparison.poisoned == 0 &&
                    comparison.compared > 0;
    return comparison;
}

GivenOutputs give_outputs(const Diagram& diagram, ArrayId array, const Tensors& inputs,
                          const Tensors& outputs) {
    GivenOutputs result{diagram, inputs, {}};
    std::set<ArrayId> needed = {array};
    std::vector<Statement> kept;
    for (std::size_t at = diagram.statements.size(); at-- > 0;) {
        const Statement& statement = diagram.statements[at];
        const auto is_needed = [&](ArrayId target) { return needed.count(target) != 0; };
        if (std::none_of(statement.targets.begin(), statement.targets.end(), is_needed)) continue;
        const auto is_given = [&](ArrayId target) {
            return target != array && outputs.count(target) != 0;
        };
        if (std::all_of(statement.targets.begin(), statement.targets.end(), is_given)) {
            for (const ArrayId target : statement.targets) {
                result.diagram.arrays[target.index()].role = ArrayRole::Input;
                result.inputs[target] = outputs.at(target);
                result.given.push_back(target);
            }
            continue;
        }
        for (const ArrayId input : inputs_of(statement)) needed.insert(input);
        kept.push_back(statement);
    }
    result.diagram.statements.assign(kept.rbegin(), kept.rend());
    return result;
}

const char* name_of(Verdict verdict) {
    switch (verdict) {
    case Verdict::Wrong: return "wrong";
    case Verdict::Unchecked: return "unchecked";
    case Verdict::Undecided: return "undecided";
    case Verdict::Right: return "right";
    }
    throw InternalError("unknown verdict");
}

Verdict Comparison::verdict() const {
    if (!ok) return explained() ? Verdict::Undecided : Verdict::Wrong;
    if (unchecked()) return Verdict::Unchecked;
    return is_enough(judged(), compared) ? Verdict::Right : Verdict::Undecided;
}

bool is_enough(std::int64_t judged, std::int64_t compared) {
    const double least = kLeastJudged * static_cast<double>(compared);
    return judged > 0 && static_cast<double>(judged) >= least;
}

std::int64_t judgeable(const Reference::Elements& elements) {
    Comparison comparison;
    Totals totals;
    for (std::size_t at = 0; at < elements.values.size(); ++at) {
        const double value = elements.values[at];
        const double other = std::nextafter(value, kInfinity);  // an exact zero is luck
        judge(comparison, totals, {}, 0, other, value, elements.tolerances[at], false);
    }
    summarise(comparison, totals);
    return comparison.judged();
}

std::string describe(const Comparison& comparison) {
    if (comparison.left_out) return comparison.name + ": not compared";
    if (comparison.too_dear > 0)
        return fmt::format("{}: one element takes the reference {:.1e} visits", comparison.name,
                           comparison.too_dear);
    std::string text = fmt::format("{}: ", comparison.name);
    text += comparison.sampled ? fmt::format("{} sampled elements", comparison.compared)
                               : fmt::format("all {} elements", comparison.compared);
    if (!comparison.given.empty())
        text += fmt::format(" from the computed {}", fmt::join(comparison.given, ", "));
    text += fmt::format(", max error {:.3g}", comparison.max_abs_error);
    if (comparison.max_abs_error > 0)
        text += fmt::format(" ({:.2g} of its tolerance at [{}])", comparison.worst_ratio,
                            fmt::join(comparison.worst_index, ", "));
    text += fmt::format(", largest tolerance {:.3g}", comparison.tolerance);
    if (comparison.undecided > 0)
        text += comparison.size > 0
                    ? fmt::format(", {} undecided within rounding (values of {:.3g})",
                                  comparison.undecided, comparison.size)
                    : fmt::format(", {} undecided", comparison.undecided);
    if (is_zero(comparison)) text += ", all of it 0 in both";
    if (comparison.explained())
        text += fmt::format(", {} undecided unless roundings are independent", comparison.alike);
    if (comparison.beyond > 0)
        text += fmt::format(", {} where exponentials are beyond the reference", comparison.beyond);
    if (comparison.infinite > 0)
        text += fmt::format(", {} infinite in both and none finite", comparison.infinite);
    if (comparison.undefined > 0) text += fmt::format(", {} NaN in both", comparison.undefined);
    if (comparison.rounded) text += ", of arrays rounded between kernels";
    if (comparison.scale != 1) text += fmt::format(", of inputs scaled by {}", comparison.scale);
    if (comparison.verdict() != Verdict::Wrong) return text;
    text += fmt::format("; {} wrong, the worst at [{}]: {:.9g} instead of {:.9g}",
                        comparison.failed, fmt::join(comparison.worst_index, ", "),
                        comparison.worst_got, comparison.worst_expected);
    if (comparison.nans > 0) text += fmt::format("; {} NaN", comparison.nans);
    if (comparison.poisoned > 0) text += fmt::format("; {} never written", comparison.poisoned);
    return text;
}

}  // namespace napkin
