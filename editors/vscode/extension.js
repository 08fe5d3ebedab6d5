// Starts `napkin lsp` for diagrams and derivations.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = () => {
    const command = workspace.getConfiguration("napkin").get("command");
    const documentSelector = ["ncd", "drv"].map((language) => ({ language }));
    client = new LanguageClient("napkin", { command, args: ["lsp"] }, { documentSelector });
    return client.start();
};

exports.deactivate = () => client?.stop();
