#include "tests/drawing/figures.h"

namespace napkin::test {

using drawing::Hierarchy;
using drawing::ItemKind;
using drawing::Listing;
using drawing::ListingItem;

std::vector<Hierarchy> figure_7() {
    using drawing::kBlack;
    using drawing::kBlockColor;
    using drawing::kClusterColor;
    using drawing::kTensorCoreColor;
    using drawing::kThreadColor;
    return {
        {{"Abstract", "Two-Level", "Model"},
         {{"ℓ0", "", kBlack}, {"ℓ1", "", kBlockColor}},
         {{0, 1}}},
        {{"Abstract", "Three-Level", "Model"},
         {{"ℓ0", "", kBlack}, {"ℓ1", "", kBlockColor}, {"ℓ2", "", kThreadColor}},
         {{0, 1}, {1, 2}}},
        {{"A100", "Tensor-Core"},
         {{"Device", "GMEM", kBlack},
          {"Thread\nblock", "SMEM", kBlockColor},
          {"Tensor\nCore", "Registers", kTensorCoreColor},
          {"Thread", "Registers", kThreadColor}},
         {{0, 1}, {1, 2}, {1, 3}}},
        {{"H100", "Tensor-Core"},
         {{"Device", "GMEM", kBlack},
          {"Thread block\ncluster", "Distributed\nSMEM", kClusterColor},
          {"Thread\nblock", "SMEM", kBlockColor},
          {"Tensor\nCore", "Registers", kTensorCoreColor},
          {"Thread", "Registers", kThreadColor}},
         {{0, 1}, {1, 2}, {2, 3}, {2, 4}}},
    };
}

drawing::WeavedAlgorithm figure_10() {
    return {"F", "a", {{"a", "x"}, {"w"}}, {{"a", "y"}}};
}

Listing attention_listing() {
    const auto step = [](ItemKind kind, const char* text, const char* variable, const char* size,
                         const char* type, const char* level, drawing::Color color) {
        return ListingItem{kind, text, variable, size, type, level, color, "", {}};
    };
    const drawing::Color block = drawing::kBlockColor;
    ListingItem chunks{
        ItemKind::Loop, "for x in chunks of s_x = 64", "", "", "", "", block, "", {}};
    chunks.body = {
        step(ItemKind::Load, "load K[x, d]", "K", "s_x d", "bf16", "block", block),
        step(ItemKind::Load, "load V[x, d]", "V", "s_x d", "bf16", "block", block),
        step(ItemKind::Step, "S[q, x] = sum(d) Q[q, d] * K[x, d] * rsqrt(size(d))", "S", "g_q s_x",
             "f32", "tensor core", drawing::kTensorCoreColor),
        step(ItemKind::Step, "m_new[q] = max(m[q], max(x) S[q, x])", "m_new", "g_q", "f32",
             "thread", drawing::kThreadColor),
        step(ItemKind::Step, "l[q] = l[q] * exp(m[q] - m_new[q]) + sum(x) exp(S[q, x] - m_new[q])",
             "l", "g_q", "f32", "thread", drawing::kThreadColor),
        step(ItemKind::Step,
             "o[q, d] = o[q, d] * exp(m[q] - m_new[q]) + sum(x) exp(S[q, x] - m_new[q]) * V[x, d]",
             "o", "g_q d", "f32", "tensor core", drawing::kTensorCoreColor),
        step(ItemKind::Step, "m[q] = m_new[q]", "m", "g_q", "f32", "thread", drawing::kThreadColor),
    };
    ListingItem groups{ItemKind::Parallel,
                       "for q in groups of g_q = 128, in parallel",
                       "",
                       "",
                       "",
                       "",
                       block,
                       "",
                       {}};
    groups.body = {
        step(ItemKind::Load, "load Q[q, d]", "Q", "g_q d", "bf16", "block", block),
        step(ItemKind::Step, "m[q], l[q], o[q, d] = -inf, 0, 0", "state", "g_q (d + 2)", "f32",
             "thread", drawing::kThreadColor),
        chunks,
        step(ItemKind::Step, "O[q, d] = o[q, d] / l[q]", "O", "g_q d", "f32", "thread",
             drawing::kThreadColor),
        step(ItemKind::Save, "save O[q, d]", "", "g_q d", "bf16", "device", drawing::kBlack),
    };
    return {"attention: O",
            {{"H_l1", "2qd + 2xqd/g_q", "69.2 MB"}, {"M_l1", "2g_q d + 2s_x d", "96 KiB"}},
            {groups}};
}

}  // namespace napkin::test
