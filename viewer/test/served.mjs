// SPDX-License-Identifier: MIT
//
// A server of `sinew play` that was just started: its address, what it says, and its end.

export function served(child) {
    let said = '';
    const gone = new Promise((done) => child.on('exit', (code, signal) => done({ code, signal })));
    const text = () => said;
    const end = async (signal) => {
        child.kill(signal);
        return gone;
    };
    return new Promise((done, fail) => {
        child.stdout.on('data', (data) => {
            said += data;
            const address = said.match(/http:\/\/\S+/)?.[0];
            if (address && said.includes('Ctrl-C')) done({ address, text, end, gone });
        });
        gone.then(({ code, signal }) => fail(new Error(`sinew play ended before it served: ${code ?? signal}`)));
    });
}
