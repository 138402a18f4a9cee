// SPDX-License-Identifier: MIT
//
// Entry point of both pages, one script for both.
if (document.documentElement.dataset.page === 'embed') void import('./embed');
else void import('./main');
