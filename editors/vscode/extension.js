// SPDX-License-Identifier: MIT
//
// Gives the schema of Sinew to every YAML file that has the key `sinew: 1`, whatever its name. Files named
// *.sinew.yaml get it by package.json alone.
const fs = require('fs');
const path = require('path');
const vscode = require('vscode');

const SCHEMA = 'sinew:schema';

// the address of the schema for a document, undefined for a document of another kind
function schemaOf(address) {
    const open = vscode.workspace.textDocuments.find((d) => d.uri.toString() === address);
    return open && /^sinew:\s*1\s*(#.*)?$/m.test(open.getText()) ? SCHEMA : undefined;
}

async function activate() {
    const yaml = await vscode.extensions.getExtension('redhat.vscode-yaml')?.activate();
    yaml?.registerContributor('sinew', schemaOf, () => fs.readFileSync(path.join(__dirname, 'sinew.schema.json'), 'utf8'));
}

module.exports = { activate, schemaOf, SCHEMA };
