//! Random work trees: a snapshot is what git's own `add --all` makes of them.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use proptest::prelude::{Just, Strategy, any, prop};
use proptest::{prop_oneof, test_runner::Config, test_runner::TestRunner};

use crate::world::{World, snapshot};

/// Something that happens to a work tree.
#[derive(Debug, Clone)]
enum Deed {
    Write(String, u8),
    Link(String),
    Remove(String),
    Executable(String),
    Stage(String),
    Ignore(String),
}

/// Few names, so that files and folders often get into each other's way.
fn path() -> impl Strategy<Value = String> {
    let name = prop_oneof![Just("a"), Just("b"), Just("é"), Just("d e"), Just("x.log")];
    prop::collection::vec(name, 1..4).prop_map(|parts| parts.join("/"))
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        4 => (path(), any::<u8>()).prop_map(|(path, byte)| Deed::Write(path, byte)),
        1 => path().prop_map(Deed::Link),
        2 => path().prop_map(Deed::Remove),
        1 => path().prop_map(Deed::Executable),
        1 => path().prop_map(Deed::Stage),
        1 => path().prop_map(Deed::Ignore),
    ]
}

fn remove(path: &Path) {
    if path.is_symlink() || path.is_file() {
        std::fs::remove_file(path).expect("the file is removed");
    } else if path.is_dir() {
        std::fs::remove_dir_all(path).expect("the folder is removed");
    }
}

/// Makes room for a file: whatever is above it becomes a folder.
fn make_room(world: &World, path: &str) {
    for (at, _) in path.match_indices('/') {
        let above = world.at(&path[..at]);
        if above.is_symlink() || above.is_file() {
            remove(&above);
        }
    }
    remove(&world.at(path));
    let folder = world.at(path);
    std::fs::create_dir_all(folder.parent().expect("it lies in a folder")).expect("folders");
}

fn happen(world: &World, deed: &Deed) {
    match deed {
        Deed::Write(path, byte) => {
            make_room(world, path);
            world.write(path, [*byte, b'\n']);
        }
        Deed::Link(path) => {
            make_room(world, path);
            symlink("a", world.at(path)).expect("a link");
        }
        Deed::Remove(path) => remove(&world.at(path)),
        Deed::Executable(path) => {
            let path = world.at(path);
            if path.is_file() && !path.is_symlink() {
                let mode = std::fs::Permissions::from_mode(0o755);
                std::fs::set_permissions(path, mode).expect("the mode is set");
            }
        }
        Deed::Stage(path) => {
            // there may be nothing to stage
            world.try_git_in(world.root(), &[], ["add", "--all", "--", path]);
        }
        Deed::Ignore(path) => {
            let name = path.rsplit('/').next().expect("a name");
            world.write(".gitignore", format!("{name}\n"));
        }
    }
}

#[test]
fn equals_add_all() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let mut runner = TestRunner::new(Config {
        cases: 24,
        failure_persistence: None,
        ..Config::default()
    });
    let deeds = || prop::collection::vec(deed(), 0..12);
    runner
        .run(&(deeds(), deeds()), |(committed, changed)| {
            let world = World::unborn();
            for deed in &committed {
                happen(&world, deed);
            }
            world.commit_all("first");
            for deed in &changed {
                happen(&world, deed);
            }
            let index = world.index_bytes();
            let tree = runtime.block_on(async { snapshot(&world.engine().await).await });
            assert_eq!(tree, world.tree_by_the_book(&[]));
            assert_eq!(index, world.index_bytes());
            Ok(())
        })
        .expect("every work tree agrees");
}
