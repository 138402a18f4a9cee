// SPDX-License-Identifier: MIT
//
// se3_types.hpp: the types of se3_types.h where numbers are of a class, since C++ does not allow
// anonymous structs of types with constructors. Names, initialisers and memory layout are the same;
// `e` is a view of all numbers.
#pragma once

// View of all numbers of the object that contains it: an empty member at the beginning of the
// object.
template <class of> struct view {
    operator double *() { return reinterpret_cast<double *>(this); }
    operator const double *() const { return reinterpret_cast<const double *>(this); }
};

struct snw_vec3 {
    [[no_unique_address]] view<snw_vec3> e;
    double x, y, z;

    struct parts {
        double x, y, z;
    };
    snw_vec3() = default;
    constexpr snw_vec3(parts p) : x(p.x), y(p.y), z(p.z) {}
    template <arithmetic T> constexpr snw_vec3(T a) : x(a), y(0), z(0) {}
};

struct snw_mat3 {
    double e[3][3];
};

struct snw_se3 {
    snw_mat3 R;
    snw_vec3 p;
};

struct snw_twist {
    [[no_unique_address]] view<snw_twist> e;
    snw_vec3 w, v;

    struct parts {
        snw_vec3 w, v;
    };
    snw_twist() = default;
    constexpr snw_twist(parts p) : w(p.w), v(p.v) {}
    template <arithmetic T> constexpr snw_twist(T a) : w(a), v(0) {}
};

struct snw_wrench {
    [[no_unique_address]] view<snw_wrench> e;
    snw_vec3 m, f;

    struct parts {
        snw_vec3 m, f;
    };
    snw_wrench() = default;
    constexpr snw_wrench(parts p) : m(p.m), f(p.f) {}
    template <arithmetic T> constexpr snw_wrench(T a) : m(a), f(0) {}
};

struct snw_quat {
    [[no_unique_address]] view<snw_quat> e;
    double w, x, y, z;

    struct parts {
        double w, x, y, z;
    };
    snw_quat() = default;
    constexpr snw_quat(parts p) : w(p.w), x(p.x), y(p.y), z(p.z) {}
    template <arithmetic T> constexpr snw_quat(T a) : w(a), x(0), y(0), z(0) {}
};

static_assert(sizeof(snw_vec3) == 3 * sizeof(double) && __is_trivial(snw_vec3));
static_assert(sizeof(snw_twist) == 6 * sizeof(double) && __is_trivial(snw_twist));
static_assert(sizeof(snw_quat) == 4 * sizeof(double) && __is_trivial(snw_quat));
