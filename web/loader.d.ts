// SPDX-License-Identifier: MIT
//
// The module that emcc writes, loader.mjs; build.mjs resolves its name.
declare module 'sinew-loader' {
    const load: (options: object) => Promise<unknown>;
    export default load;
}
