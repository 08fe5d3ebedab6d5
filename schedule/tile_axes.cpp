// A product on the tensor core has rows, columns and a depth. Where a block holds indices of
// several axes on one of these sides,
//
//     S[i, j, u, v] = sum(d) Q[i, j, d] * K[u, v, d]
//
// they become one axis that counts them all: rows `i_j`, of which number r is index r / 16 of the
// block's part of `i` and r % 16 of its part of `j`, where the block holds 16 of `j`; and columns
// `u_v`. Arrays that are computed run along these instead, and what products read is gathered:
//
//     S[i_j, u_v] = sum(d) Q[i_j, d] * K[u_v, d]
//
// Loops and groups stay those of the axes themselves, and so do masks, which read `i`, `j`, `u` and
// `v`: whoever goes along `i_j` knows both. So visited chunks, full and partial ones, and tests at
// the edges of each axis are what they are without tile axes.
//
// Axes that have the same part in every product of the region are one: of a neighbourhood the
// queries' and the keys' axes, of a convolution (`sum(r, s, k) W[c, r, s, k] * X[y + r, x + s, k]`)
// the image's, `y_x`, and the depth's, `r_s_k`. Its image is gathered once for each element of the
// filter: what lies side by side in shared memory is a matrix of rows `y_x`.
//
// Without a product, axes that a fold goes along at once are one, as a group norm's pixels and
// channels are, and so are those of arrays that run along three axes and more: threads then share
// rows `p_c` as they would share rows along one axis.
//
// Where some array runs along one of the axes and not along the others, the block holds different
// parts of them at different places, or an element is read at another index than the loops', there
// is no tile axis, and the region is left as it is.
#include "schedule/tile_axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "derive/contraction.h"
#include "schedule/statements.h"
#include "schedule/straight_reads.h"

namespace napkin::schedule {
namespace {

using Extents = std::map<AxisId, std::int64_t>;  // indices that a block holds, of parts of axes

bool stands_in(const std::vector<AxisId>& axes, AxisId axis) {
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

class Tiler {
public:
    explicit Tiler(const RegionProgram& region) : region_(region) {}

    TiledRegion run() {
        collect(region_.body, {});
        if (!unfit_ && !products_.empty()) make_axes();
        if (!unfit_ && products_.empty() && !batched_) make_row_axes();
        if (axes_.empty()) return {region_, {}};
        TiledRegion tiled{region_, axes_};
        for (const TileAxis& tile : axes_) {
            Axis made;
            for (const TilePart& part : tile.parts)
                made.name += (made.name.empty() ? "" : "_") + region_.axes[part.axis.index()].name;
            made.extent = extent_of(tile);
            made.size = Formula(made.extent);
            tiled.region.axes.push_back(std::move(made));
        }
        rewrite_body(tiled.region, tiled.region.body);
        if (tiled.region.accumulator) rename_states(*tiled.region.accumulator, made_);
        return tiled;
    }

private:
    /// Which part an axis has in a product: the side that it is on, or its depth.
    enum class Role { None, First, Second, Depth };

    struct Loaded {
        const Load* load = nullptr;
        Extents extents;
    };

    [[nodiscard]] static std::int64_t extent_of(const TileAxis& tile) {
        std::int64_t extent = 1;
        for (const TilePart& part : tile.parts) extent *= part.extent;
        return extent;
    }
    [[nodiscard]] std::int64_t held(const Extents& parts, AxisId axis) const {
        const auto part = parts.find(axis);
        return part == parts.end() ? region_.axes[axis.index()].extent : part->second;
    }
    [[nodiscard]] const Array& array_of(VariableId variable) const {
        return region_.arrays[region_.variables[variable.index()].array.index()];
    }

    void collect(const std::vector<TileStatement>& body, const Extents& parts) {
        const auto inside = [&](AxisId axis, std::int64_t size,
                                const std::vector<TileStatement>& of) {
            Extents own = parts;
            own[axis] = std::min(size, region_.axes[axis.index()].extent);
            collect(of, own);
        };
        for (const TileStatement& statement : body) {
            if (const Parallel* parallel = std::get_if<Parallel>(&statement.node)) {
                inside(parallel->axis, parallel->size, parallel->body);
            } else if (const Loop* loop = std::get_if<Loop>(&statement.node)) {
                inside(loop->axis, loop->size, loop->body);
            } else if (const Load* load = std::get_if<Load>(&statement.node)) {
                unfit_ = unfit_ || load->source;
                loads_[load->target] = {load, parts};
            } else if (const Compute* compute = std::get_if<Compute>(&statement.node)) {
                collect(*compute, parts);
            }
        }
    }

    void collect(const Compute& compute, const Extents& parts) {
        const Map* map = std::get_if<Map>(&compute.statement.body);
        const Fold* fold = std::get_if<Fold>(&compute.statement.body);
        if ((map == nullptr && (fold == nullptr || fold->every_prefix)) ||
            compute.targets.size() != 1 || compute.level != Level::Block) {
            unfit_ = true;
            return;
        }
        computes_.push_back(&compute);
        std::vector<AxisId> axes = array_of(compute.targets.front()).axes;
        if (fold != nullptr) axes.insert(axes.end(), fold->over.begin(), fold->over.end());
        for (const AxisId axis : axes) {
            const auto [known, added] = extents_.try_emplace(axis, held(parts, axis));
            if (!added && known->second != held(parts, axis)) uneven_.insert(axis);
        }
        collect_product(compute, parts);
    }

    void collect_product(const Compute& compute, const Extents& parts) {
        const std::optional<Contraction> product =
            contraction_of(compute.statement, array_of(compute.targets.front()).axes,
                           [&](AxisId axis) { return held(parts, axis) > 1; });
        if (!product) return;
        if (!product->batch.empty() || !product->others.empty()) {
            batched_ = batched_ || (!product->rows.empty() && !product->columns.empty());
            return;
        }
        std::map<AxisId, Role>& roles = products_.emplace_back();
        for (const AxisId axis : product->rows) roles[axis] = Role::First;
        for (const AxisId axis : product->columns) roles[axis] = Role::Second;
        for (const AxisId axis : product->depth) roles[axis] = Role::Depth;
    }

    /// What part an axis has in each product.
    [[nodiscard]] std::vector<Role> roles_of(AxisId axis) const {
        std::vector<Role> roles;
        for (const auto& product : products_) {
            const auto role = product.find(axis);
            roles.push_back(role == product.end() ? Role::None : role->second);
        }
        return roles;
    }

    void make_axes() {
        std::map<std::vector<Role>, std::vector<AxisId>> classes;
        std::set<AxisId> all;
        for (const auto& product : products_)
            for (const auto& [axis, role] : product) all.insert(axis);
        for (const AxisId axis : all) classes[roles_of(axis)].push_back(axis);
        for (const auto& [roles, axes] : classes) {
            if (axes.size() < 2) continue;
            if (!stay_together(axes)) {
                axes_.clear();
                return;
            }
            make_axis(axes);
        }
    }

    void make_axis(const std::vector<AxisId>& axes) {
        TileAxis tile{{static_cast<std::uint32_t>(region_.axes.size() + axes_.size())}, {}};
        for (const AxisId axis : in_memory_order(axes))
            tile.parts.push_back({axis, extents_.at(axis)});
        axes_.push_back(std::move(tile));
    }

    /// Where no product is: of axes that every computation goes along alike.
    void make_row_axes() {
        std::map<std::vector<Role>, std::vector<AxisId>> classes;
        for (const auto& [axis, extent] : extents_) {
            if (extent <= 1) continue;
            std::vector<Role> roles;
            for (const Compute* compute : computes_)
                roles.push_back(stands_in(folded(*compute), axis) ? Role::Depth
                                : stands_in(array_of(compute->targets.front()).axes, axis)
                                    ? Role::First
                                    : Role::None);
            classes[roles].push_back(axis);
        }
        for (auto& [roles, axes] : classes) {
            // Rows of several axes, and columns that lie in memory.
            if (stands_in_none(roles, Role::Depth) && axes.size() > 2)
                std::erase(axes, in_memory_order(axes).back());
            if (axes.size() >= 2 && held_in_rows(axes) && stay_together(axes)) make_axis(axes);
        }
    }

    [[nodiscard]] static bool stands_in_none(const std::vector<Role>& roles, Role role) {
        return std::find(roles.begin(), roles.end(), role) == roles.end();
    }

    /// Whether a fold goes along the axes at once into what has an element a row, or an array runs
    /// along them that has more than rows and columns.
    [[nodiscard]] bool held_in_rows(const std::vector<AxisId>& axes) const {
        const auto wide = [&](const std::vector<AxisId>& of) {
            return std::count_if(of.begin(), of.end(),
                                 [&](AxisId axis) { return extents_.at(axis) > 1; });
        };
        return std::any_of(computes_.begin(), computes_.end(), [&](const Compute* compute) {
            const std::vector<AxisId>& own = array_of(compute->targets.front()).axes;
            return stands_in(folded(*compute), axes.front())
                       ? wide(own) <= 1 && lie_in_memory(axes)
                       : stands_in(own, axes.front()) && wide(own) > 2;
        });
    }

    /// Whether some array's neighbours in memory are neighbours along one of the axes.
    [[nodiscard]] bool lie_in_memory(const std::vector<AxisId>& axes) const {
        return std::any_of(loads_.begin(), loads_.end(), [&](const auto& entry) {
            const Load& load = *entry.second.load;
            const std::vector<std::size_t> dimensions = dimensions_of(load);
            if (dimensions.empty()) return false;
            const std::size_t last = dimensions.back();
            const Expression* index = !load.gather.empty()           ? &load.gather[last]
                                      : load.index[last].size() == 1 ? &load.index[last].front()
                                                                     : nullptr;
            const AxisIndex* along =
                index == nullptr ? nullptr : std::get_if<AxisIndex>(&index->node);
            return along != nullptr && stands_in(axes, along->axis);
        });
    }

    /// The axes that a fold goes along; none where it only counts: what it folds is the same at
    /// every index.
    [[nodiscard]] static std::vector<AxisId> folded(const Compute& compute) {
        const Fold* fold = std::get_if<Fold>(&compute.statement.body);
        if (fold == nullptr) return {};
        const std::set<AxisId> used = axes_used(fold->values.front());
        const bool counts = std::none_of(fold->over.begin(), fold->over.end(),
                                         [&](AxisId axis) { return used.contains(axis); });
        return counts ? std::vector<AxisId>{} : fold->over;
    }

    /// Whether everything that is computed runs along all of the axes or none, folds over all or
    /// none, and is read at the same indices.
    [[nodiscard]] bool stay_together(const std::vector<AxisId>& axes) const {
        const auto all_or_none = [&](const std::vector<AxisId>& of) {
            const auto count = std::count_if(axes.begin(), axes.end(),
                                             [&](AxisId axis) { return stands_in(of, axis); });
            return count == 0 || count == static_cast<std::ptrdiff_t>(axes.size());
        };
        std::set<ArrayId> computed;
        for (const Compute* compute : computes_)
            computed.insert(region_.variables[compute->targets.front().index()].array);
        bool fit = std::none_of(axes.begin(), axes.end(),
                                [&](AxisId axis) { return uneven_.contains(axis); });
        for (const Compute* compute : computes_) {
            fit = fit && all_or_none(array_of(compute->targets.front()).axes) &&
                  all_or_none(folded(*compute));
            for (const Expression* expression : expressions_of(compute->statement))
                walk(*expression, [&](const Expression& node) {
                    const Read* read = std::get_if<Read>(&node.node);
                    if (read == nullptr || !computed.contains(read->array)) return;
                    const std::vector<AxisId>& own = region_.arrays[read->array.index()].axes;
                    for (std::size_t d = 0; d < own.size(); ++d)
                        if (stands_in(axes, own[d]))
                            fit = fit && read->index[d] == axis_index(own[d]);
                });
        }
        return fit;
    }

    /// As they are in the first array that is loaded along all of them.
    [[nodiscard]] std::vector<AxisId> in_memory_order(const std::vector<AxisId>& axes) const {
        for (const auto& [variable, loaded] : loads_) {
            std::vector<AxisId> order;
            if (loaded.load->index.empty()) continue;
            for (const std::size_t d : dimensions_of(*loaded.load))
                for (const Expression& index : loaded.load->index[d])
                    if (const AxisIndex* axis = std::get_if<AxisIndex>(&index.node))
                        if (stands_in(axes, axis->axis) && !stands_in(order, axis->axis))
                            order.push_back(axis->axis);
            if (order.size() == axes.size()) return order;
        }
        return axes;
    }

    /// Of the array in device memory, the contiguous one last.
    [[nodiscard]] std::vector<std::size_t> dimensions_of(const Load& load) const {
        const Array& array = region_.arrays[load.array.index()];
        if (!array.layout.empty()) return {array.layout.begin(), array.layout.end()};
        std::vector<std::size_t> order;
        for (std::size_t d = 0; d < array.axes.size(); ++d) order.push_back(d);
        return order;
    }

    // What the axes make of the region.

    [[nodiscard]] std::vector<AxisId> tiled(const std::vector<AxisId>& axes) const {
        std::vector<AxisId> result;
        for (const AxisId axis : axes)
            if (const AxisId along = tile_axis_of(axes_, axis); !stands_in(result, along))
                result.push_back(along);
        return result;
    }

    /// What counts along a part of a tile axis still does.
    [[nodiscard]] std::vector<AxisId> tiled_where_whole(const std::vector<AxisId>& over) const {
        const bool whole = std::all_of(axes_.begin(), axes_.end(), [&](const TileAxis& tile) {
            const auto in =
                std::count_if(tile.parts.begin(), tile.parts.end(),
                              [&](const TilePart& part) { return stands_in(over, part.axis); });
            return in == 0 || in == static_cast<std::ptrdiff_t>(tile.parts.size());
        });
        return whole ? tiled(over) : over;
    }

    /// Replaces a variable's array by one along other axes.
    void set_axes(RegionProgram& region, VariableId variable, std::vector<AxisId> axes,
                  const Extents& parts) {
        Variable& info = region.variables[variable.index()];
        Array made = region.arrays[info.array.index()];
        made.axes = std::move(axes);
        made.layout.clear();
        info.capacity.clear();
        info.capacity_extent.clear();
        for (const AxisId axis : made.axes) {
            const TileAxis* tile = find_tile_axis(axes_, axis);
            info.capacity_extent.push_back(tile != nullptr ? extent_of(*tile) : held(parts, axis));
            info.capacity.emplace_back(info.capacity_extent.back());
        }
        const ArrayId id{static_cast<std::uint32_t>(region.arrays.size())};
        if (const auto stored = region.stored.find(info.array); stored != region.stored.end())
            region.stored.emplace(id, stored->second);
        region.arrays.push_back(std::move(made));
        made_.insert_or_assign(info.array, id);
        info.array = id;
        tiled_.insert(variable);
    }

    void rewrite_body(RegionProgram& region, std::vector<TileStatement>& body) {
        for (TileStatement& statement : body) {
            if (Parallel* parallel = std::get_if<Parallel>(&statement.node))
                rewrite_body(region, parallel->body);
            else if (Loop* loop = std::get_if<Loop>(&statement.node))
                rewrite_body(region, loop->body);
            else if (Load* load = std::get_if<Load>(&statement.node))
                gather(region, *load);
            else if (Compute* compute = std::get_if<Compute>(&statement.node))
                retarget(region, *compute);
        }
    }

    /// A load of what runs along two axes of a block, tile axes among them, brings it as a matrix;
    /// where no product is, of what runs along one as a row.
    void gather(RegionProgram& region, Load& load) {
        if (!load.gather.empty() && !is_view(load)) return;
        const std::vector<std::size_t> dimensions = dimensions_of(load);
        std::vector<Expression> from = load.gather;
        std::vector<AxisId> named;
        for (const std::size_t d : dimensions) {
            if (load.index[d].size() != 1) return;
            const Expression& index = from.empty() ? load.index[d].front() : from[d];
            for (const AxisId axis : axes_used(index))
                if (!stands_in(named, axis)) named.push_back(axis);
        }
        if (from.empty())
            for (const auto& index : load.index) from.push_back(index.front());
        std::vector<AxisId> axes = tiled(named);
        if (axes == named) return;
        // Neighbours in memory are neighbours along the columns.
        if (const AxisIndex* last = std::get_if<AxisIndex>(&from[dimensions.back()].node)) {
            const AxisId along = tile_axis_of(axes_, last->axis);
            std::erase(axes, along);
            axes.push_back(along);
        }
        const Extents& parts = loads_.at(load.target).extents;
        const auto wide = std::count_if(axes.begin(), axes.end(), [&](AxisId axis) {
            return find_tile_axis(axes_, axis) != nullptr || held(parts, axis) > 1;
        });
        if ((wide != 2 && !(wide == 1 && products_.empty())) || !read_as_loaded(load)) return;
        load.index.clear();
        for (const AxisId axis : axes) load.index.push_back({axis_index(axis)});
        load.gather = std::move(from);
        set_axes(region, load.target, std::move(axes), parts);
    }

    /// Whether every reader means the same element as the load, and none is a gather, which reads
    /// its indices along axes of its own.
    [[nodiscard]] bool read_as_loaded(const Load& load) const {
        const ArrayId array = region_.variables[load.target.index()].array;
        bool same = true;
        for_statements(region_.body, [&](const TileStatement& statement, const Loop*) {
            const Load* other = std::get_if<Load>(&statement.node);
            if (other == nullptr) return;
            for (const Expression& index : other->gather)
                same = same && arrays_read(index).count(array) == 0;
        });
        for (const Compute* compute : computes_) {
            if (std::find(compute->reads.begin(), compute->reads.end(), load.target) ==
                compute->reads.end())
                continue;
            for (const Expression* expression : expressions_of(compute->statement))
                walk(*expression, [&](const Expression& node) {
                    const Read* read = std::get_if<Read>(&node.node);
                    if (read == nullptr || read->array != array) return;
                    for (std::size_t d = 0; d < read->index.size(); ++d)
                        same = same && read->index[d] == load.index[d].front();
                });
        }
        return same;
    }

    void retarget(RegionProgram& region, Compute& compute) {
        const VariableId target = compute.targets.front();
        const std::vector<AxisId>& own = array_of(target).axes;
        if (!tiled_.contains(target) && tiled(own) != own)
            set_axes(region, target, tiled(own), extents_);
        std::map<ArrayId, ArrayId> arrays;
        std::set<ArrayId> loaded;
        const auto note = [&](VariableId variable) {
            if (!tiled_.contains(variable)) return;
            const ArrayId array = region_.variables[variable.index()].array;
            arrays[array] = region.variables[variable.index()].array;
            if (loads_.contains(variable)) loaded.insert(array);
        };
        note(target);
        for (const VariableId variable : compute.reads) note(variable);
        if (const auto made = arrays.find(compute.statement.targets.front()); made != arrays.end())
            compute.statement.targets = {made->second};
        const auto along = [&](Expression node) -> Expression {
            const Read* element = std::get_if<Read>(&node.node);
            const auto made = element == nullptr ? arrays.end() : arrays.find(element->array);
            if (made == arrays.end()) return node;
            const std::vector<AxisId>& was = region_.arrays[element->array.index()].axes;
            Expression result = read_axes(made->second, region.arrays[made->second.index()].axes);
            // What was loaded where it is read is read there.
            if (loaded.contains(element->array)) return result;
            // Along what is no tile axis an element may be read at another index.
            std::vector<Expression>& index = std::get<Read>(result.node).index;
            for (std::size_t d = 0; d < was.size(); ++d)
                for (Expression& at : index)
                    if (at == axis_index(was[d])) at = element->index[d];
            return result;
        };
        if (Map* map = std::get_if<Map>(&compute.statement.body))
            map->value = rewrite(std::move(map->value), along);
        if (Fold* fold = std::get_if<Fold>(&compute.statement.body)) {
            for (Expression& value : fold->values) value = rewrite(std::move(value), along);
            for (Expression& seed : fold->seed) seed = rewrite(std::move(seed), along);
            fold->over = tiled_where_whole(fold->over);
        }
    }

    const RegionProgram& region_;
    std::vector<TileAxis> axes_;
    Extents extents_;          // of what is computed
    std::set<AxisId> uneven_;  // of which different places hold different parts
    std::vector<std::map<AxisId, Role>> products_;
    std::vector<const Compute*> computes_;
    std::map<VariableId, Loaded> loads_;
    std::set<VariableId> tiled_;
    std::map<ArrayId, ArrayId> made_;
    bool unfit_ = false;
    bool batched_ = false;  // whether it has products that would fit if a block held one of each
};

}  // namespace

TiledRegion with_tile_axes(const RegionProgram& region) {
    return Tiler(region).run();
}

const TileAxis* find_tile_axis(const std::vector<TileAxis>& axes, AxisId axis) {
    for (const TileAxis& tile : axes)
        if (tile.axis == axis) return &tile;
    return nullptr;
}

AxisId tile_axis_of(const std::vector<TileAxis>& axes, AxisId axis) {
    for (const TileAxis& tile : axes)
        for (const TilePart& part : tile.parts)
            if (part.axis == axis) return tile.axis;
    return axis;
}

bool is_tiled(const std::vector<TileAxis>& axes, const Load& load) {
    return std::any_of(load.index.begin(), load.index.end(), [&](const auto& index) {
        const AxisIndex* axis = std::get_if<AxisIndex>(&index.front().node);
        return axis != nullptr && find_tile_axis(axes, axis->axis) != nullptr;
    });
}

std::set<AxisId> axes_along(const std::vector<TileAxis>& axes, const Expression& expression) {
    std::set<AxisId> along = axes_used(expression);
    if (axes.empty()) return along;
    for (const AxisId axis : std::set<AxisId>(along)) {
        along.insert(tile_axis_of(axes, axis));
        if (const TileAxis* tile = find_tile_axis(axes, axis))
            for (const TilePart& part : tile->parts) along.insert(part.axis);
    }
    return along;
}

}  // namespace napkin::schedule
