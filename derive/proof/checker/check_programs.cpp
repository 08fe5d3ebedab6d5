#include <algorithm>

#include "derive/proof/checker/check_certificate.h"
#include "derive/proof/checker/program_form.h"
#include "derive/proof/checker/program_runner.h"
#include "derive/proof/evaluate_plain.h"
#include "derive/proof/field_inputs.h"
#include "derive/proof/prove_program.h"
#include "derive/proof/renamed_grids.h"
#include "diagrams/check.h"

namespace napkin::proof::checker {
namespace {

FieldSettings settings_named(const std::string& reading) {
    for (const Choices choices : {Choices::Gauges, Choices::FreeMonoids, Choices::Cells})
        for (const bool strict : {true, false})
            if (print(FieldSettings{choices, strict}) == reading) return {choices, strict};
    throw MalformedCertificate("no reading `" + reading + "`");
}

/// One shape of a certificate.
class ShapeChecker {
public:
    ShapeChecker(const Json& shape, const Diagram& plain)
        : shape_(shape), plain_(plain), program_(read_program(shape.at("program"), plain)) {
        check_form(program_, plain_);
    }

    std::vector<std::string> run() {
        for (const Json& output : shape_.at("outputs")) {
            const std::string name = output.at("output").get<std::string>();
            const std::optional<ArrayId> array = find_array(plain_, name);
            if (!array || plain_[*array].role != ArrayRole::Output)
                throw MalformedCertificate("no output `" + name + "`");
            outputs_.push_back(*array);
            check_output(output, *array);
        }
        for (const ArrayId output : napkin::outputs_of(plain_))
            if (std::find(outputs_.begin(), outputs_.end(), output) == outputs_.end())
                fail("nothing is said of output `" + plain_[output].name + "`");
        return failures_;
    }

private:
    void fail(std::string what) {
        if (std::find(failures_.begin(), failures_.end(), what) == failures_.end())
            failures_.push_back(std::move(what));
    }

    /// The recorded points, and one that whoever wrote the certificate cannot have chosen: it
    /// follows from all of the shape.
    void check_output(const Json& output, ArrayId array) {
        const FieldSettings settings = settings_named(output.at("reading").get<std::string>());
        std::vector<std::uint64_t> seeds;
        for (const Json& trial : output.at("trials"))
            seeds.push_back(std::stoull(trial.at("seed").get<std::string>(), nullptr, 16));
        seeds.push_back(std::hash<std::string>()(shape_.dump()));
        std::int64_t decided = 0;
        for (const std::uint64_t seed : seeds) decided += compare(settings, seed, array);
        if (decided == 0) fail("no element of `" + plain_[array].name + "` could be compared");
    }

    /// Elements that came out equal at one point.
    std::int64_t compare(FieldSettings settings, std::uint64_t seed, ArrayId output) {
        FieldDomain domain(seed, settings, needs());
        const Grids<FieldValue> inputs = field_inputs(domain, plain_, seed);
        const Grids<FieldValue> expected =
            PlainEvaluator<FieldDomain>(domain, plain_, inputs).run();
        Memory memory;
        for (const auto& [id, grid] : inputs) memory.arrays[plain_[id].name] = grid;
        checker::run_program(domain, program_, memory);
        const std::string& name = plain_[output].name;
        const Grid<FieldValue>& want = expected.at(output);
        const std::vector<int>& writes = memory.writes[name];
        if (writes.size() != want.values.size() ||
            std::any_of(writes.begin(), writes.end(), [](int count) { return count != 1; })) {
            fail("elements of `" + name + "` are not written exactly once");
            return 0;
        }
        std::int64_t equal = 0;
        const Grid<FieldValue>& got = memory.arrays.at(name);
        for (std::size_t at = 0; at < want.values.size(); ++at) {
            const FieldValue& value = want.values[at];
            if (domain.equal(value, got.values[at]))
                ++equal;
            else if (!value.empty && !value.rootless && !got.values[at].rootless &&
                     value.kind != FieldValue::Kind::Poison)
                fail(element_name(name, want.extents, at) + " differs from the diagram's");
        }
        return equal;
    }

    [[nodiscard]] FieldNeeds needs() const {
        FieldNeeds needs;
        for (const Monoid& monoid : plain_.monoids) needs.ordered.push_back(!monoid.commutative);
        return needs;
    }

    const Json& shape_;
    const Diagram& plain_;
    ReadProgram program_;
    std::vector<ArrayId> outputs_;
    std::vector<std::string> failures_;
};

}  // namespace

std::vector<std::string> check_programs(const Json& certificate, const SourceMap& sources,
                                        const syntax::File& file) {
    std::vector<std::string> failures;
    std::size_t number = 0;
    for (const Json& shape : certificate.at("shapes")) {
        ++number;
        Sizes sizes;
        for (const auto& [name, size] : shape.at("sizes").items())
            sizes[name] = size.get<std::int64_t>();
        const Result<Checked> plain = check(sources, file, sizes);
        if (!plain) {
            failures.push_back("the diagram is not well formed at the sizes of shape " +
                               std::to_string(number));
            continue;
        }
        try {
            for (const std::string& failure : ShapeChecker(shape, plain->diagram).run())
                failures.push_back("shape " + std::to_string(number) + ": " + failure);
        } catch (const Undecided& undecided) {
            failures.push_back("shape " + std::to_string(number) + ": " + undecided.what());
        } catch (const std::logic_error& broken) {
            failures.push_back("shape " + std::to_string(number) + ": " + broken.what());
        }
    }
    if (number == 0) failures.emplace_back("there is no shape");
    return failures;
}

}  // namespace napkin::proof::checker
