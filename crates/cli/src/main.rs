//! Entry point of the `groma` executable.

fn main() {
    let mut arguments = std::env::args_os();
    // Links to one executable select the persona by their own name, so the name is taken from the command line.
    let path = arguments.next().unwrap_or_default();
    let program = std::path::Path::new(&path).file_stem().map(|name| name.to_string_lossy().into_owned());
    groma_cli::run(program.as_deref().unwrap_or("groma"), arguments.collect()).exit()
}
