//! What manuals and shells are told of the command line.
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn prismux(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_prismux")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The commands, as `--help` lists them.
fn commands() -> Vec<String> {
    let help = prismux(&["--help"]);
    let list = help.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap();
    // A command stands two blanks from the margin, what goes on with its text further in.
    let names = list.lines().filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
    let names: Vec<String> = names.filter_map(|line| Some(line.split(' ').next()?.to_owned())).collect();
    names.into_iter().filter(|name| name != "help").collect()
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok()
}

/// A folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

/// What groff finds wrong with a page.
fn complaints(page: &Path) -> String {
    let output = Command::new("groff").args(["-man", "-Tutf8", "-ww", "-z"]).arg(page).output().unwrap();
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn each_command_has_a_page_with_its_options() {
    let folder = folder("manual");
    prismux(&["man", &folder.to_string_lossy()]);
    let commands = commands();
    assert!(commands.len() >= 30 && commands.contains(&"revoke".to_owned()), "{commands:?}");
    let names = commands.iter().map(|name| format!("prismux-{name}.1")).chain(["prismux.1".to_owned()]);
    for name in names {
        let page = folder.join(&name);
        let text = std::fs::read_to_string(&page).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(text.contains(".SH SYNOPSIS") && text.contains(".SH OPTIONS"), "{name}");
        if is_there("groff") {
            assert_eq!(complaints(&page), "", "{name}");
        }
    }
    let revoke = std::fs::read_to_string(folder.join("prismux-revoke.1")).unwrap();
    assert!(revoke.contains(r"\-\-undo") && revoke.contains("prismux revoke house"), "{revoke}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// What bash offers behind `words`, of which the last has been begun.
fn completed(script: &str, words: &[&str]) -> Vec<String> {
    let (last, rest) = words.split_last().unwrap();
    let before = rest.last().unwrap();
    let ask = format!(
        "\nCOMP_WORDS=({}); COMP_CWORD={}; _prismux prismux '{last}' '{before}'; echo \"${{COMPREPLY[@]}}\"\n",
        words.join(" "),
        rest.len(),
    );
    let mut bash =
        Command::new("bash").arg("-s").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    bash.stdin.take().unwrap().write_all(format!("{script}{ask}").as_bytes()).unwrap();
    let output = bash.wait_with_output().unwrap();
    String::from_utf8(output.stdout).unwrap().split_whitespace().map(str::to_owned).collect()
}

#[test]
fn shells_complete_commands_and_options() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = prismux(&["completions", shell]);
        assert!(commands().iter().all(|command| script.contains(command)), "{shell}");
    }
    if is_there("bash") {
        let script = prismux(&["completions", "bash"]);
        assert_eq!(completed(&script, &["prismux", "rev"]), ["revoke"]);
        assert_eq!(completed(&script, &["prismux", "revoke", "--un"]), ["--undo"]);
    }
}
