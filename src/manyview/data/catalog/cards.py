"""Cards: the facts of every data set in the catalog, known before a file is opened."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class DatasetCard:
    """What is known about a data set before its file is opened.

    Attributes
    ----------
    name
        Its key in `CATALOG`, in lower case.
    title
        Its true name.
    paper_name
        What the paper calls it; None where the paper does not use it.
    n_samples, n_features, n_classes
        Its size; one number of features per view.
    kind
        What its samples are.
    source
        Where it comes from.
    n_graphs
        Number of views that are given graphs.
    defects
        What a reader of results must know, one sentence each.
    file
        File name in the data folder; None where the views are computed.
    sha256
        Checksum of the file, None where nobody here has it. Of the images for `digits`.
    read_options
        What `read_views` needs to know to read the file.
    view_names
        Names of the views, where known.
    copies
        Numbers, from 1, of the views to repeat at the end, as the paper has them twice.
    """

    name: str
    title: str
    paper_name: str | None
    n_samples: int
    n_features: tuple[int, ...]
    n_classes: int
    kind: str
    source: str
    n_graphs: int = 0
    defects: tuple[str, ...] = ()
    file: str | None = None
    sha256: str | None = None
    read_options: Mapping[str, str] = field(default_factory=dict)
    view_names: tuple[str, ...] = ()
    copies: tuple[int, ...] = ()


BBC = "http://mlg.ucd.ie/datasets"
CALTECH = "Caltech101, http://www.vision.caltech.edu/Image_Datasets/Caltech101/Caltech101.html"
CALTECH_SIZES = (48, 40, 254, 1984, 512, 928)
CALTECH_VIEWS = ("gabor", "wavelet moments", "centrist", "hog", "gist", "lbp")
MNIST = "http://yann.lecun.com/exdb/mnist"
MNIST_VIEWS = ("isoprojection", "lda", "lda copy")
MNIST_LEAK = (
    "View 2 (LDA) was fitted with all labels, so it leaks them: every result on it is too good."
)
RE_EXTRACTED = "All views were extracted anew: right samples and sizes, other values."
X_AND_Y = {"views_key": "X", "labels_key": "Y"}

_CARDS = (
    DatasetCard(
        name="bbcnews",
        title="BBCnews",
        paper_name="BBCnews",
        n_samples=685,
        n_features=(4659, 4633, 4665, 4684),
        n_classes=5,
        kind="documents",
        source=f"{BBC}/segment.html",
        defects=("Word counts are stored as uint8: cast them before arithmetic.",),
        file="BBCnews.mat",
        sha256="dc897f133c21d0c1f51977cccfa2d0c5661c257e241e8007c2dbe72cbb02bd00",
        read_options=X_AND_Y,
    ),
    DatasetCard(
        name="bbcsports",
        title="BBCsports",
        paper_name="BBCsports",
        n_samples=544,
        n_features=(3183, 3203),
        n_classes=5,
        kind="documents",
        source=f"{BBC}/bbc.html",
        file="BBCsports.mat",
        sha256="96a802d178a0d776ce904e90edcd1089b6eb94a8b12c91c64488bd03682de089",
        read_options=X_AND_Y,
    ),
    DatasetCard(
        name="mnist",
        title="MNIST, 2,000 digits",
        paper_name="MNIST",
        n_samples=2000,
        n_features=(30, 9, 9),
        n_classes=10,
        kind="digit images",
        source=MNIST,
        defects=(
            MNIST_LEAK,
            "View 3 is a copy of view 2; the paper calls it neighborhood preserving embedding.",
        ),
        file="MNIST.mat",
        sha256="287d2ed050b3fbe591ec0e2effe725d23b0f3a4d5c7c4583f9ddbd8cc60b1b94",
        read_options=X_AND_Y,
        view_names=MNIST_VIEWS,
    ),
    DatasetCard(
        name="mnist-10k",
        title="MNIST, the first 10,000 training digits",
        paper_name="MNIST-10K",
        n_samples=10_000,
        n_features=(30, 9, 9),
        n_classes=10,
        kind="digit images",
        source=MNIST,
        defects=(
            MNIST_LEAK,
            "Rebuilt from the images, not the authors' file; 46 rows of view 1 are estimated.",
            "The file holds views 1 and 2; the paper's view 3 is a copy of view 2.",
        ),
        file="MNIST-10K.npz",
        sha256="48490ea085850288c347020360cacfde2cd8a42a021595b29c30122839c1beaa",
        view_names=MNIST_VIEWS,
        copies=(2,),
    ),
    DatasetCard(
        name="caltech101-7",
        title="Caltech101-7",
        paper_name="Caltech-20",
        n_samples=1474,
        n_features=CALTECH_SIZES,
        n_classes=7,
        kind="object images",
        source=CALTECH,
        defects=(
            "The paper lists these counts as Caltech-20; its accuracies fit Caltech101-20.",
            "Views 4 (HOG) and 6 (LBP) were extracted anew; the others are the originals.",
        ),
        file="Caltech101-7.npz",
        sha256="4105855a3e99e2d012178fb1484e68916340c015793338ebeeba31aa4a498ca0",
        view_names=CALTECH_VIEWS,
    ),
    DatasetCard(
        name="caltech101-all",
        title="Caltech101-all",
        paper_name="Caltech-all",
        n_samples=9144,
        n_features=CALTECH_SIZES,
        n_classes=102,
        kind="object images",
        source=CALTECH,
        defects=(RE_EXTRACTED, "The paper's table lists 20 classes; there are 102."),
        file="Caltech101-all.npz",
        sha256="1f23ef02360959f684adbbc0be282a34b45f197014af6dd8be3d57133a2e3559",
        view_names=CALTECH_VIEWS,
    ),
    DatasetCard(
        name="nus-wide",
        title="NUS-WIDE, 8 classes",
        paper_name="NUS-WIDE",
        n_samples=1600,
        n_features=(64, 144, 73, 128, 225, 500),
        n_classes=8,
        kind="web images",
        source="https://lms.comp.nus.edu.sg/wp-content/uploads/2019/research/nuswide/NUS-WIDE.html",
        defects=("No copy could be checked: its facts are those the paper lists.",),
        file="NUS-WIDE.mat",
        read_options=X_AND_Y,
        view_names=(
            "color histogram",
            "color correlogram",
            "edge direction histogram",
            "wavelet texture",
            "block-wise color moments",
            "sift bag of words",
        ),
    ),
    DatasetCard(
        name="youtube",
        title="Youtube multiview video games, 10 classes",
        paper_name="Youtube",
        n_samples=2000,
        n_features=(2000, 64, 1024, 512, 64, 647),
        n_classes=10,
        kind="video data",
        source="http://archive.ics.uci.edu/ml/machine-learning-databases/00269",
        defects=("No copy could be checked: its facts are those the paper lists.",),
        file="Youtube.mat",
        read_options=X_AND_Y,
        view_names=(
            "mfcc",
            "volume stream",
            "spectrogram stream",
            "cuboids histogram",
            "motion estimate histogram",
            "hog",
        ),
    ),
    DatasetCard(
        name="caltech101-20",
        title="Caltech101-20",
        paper_name=None,
        n_samples=2386,
        n_features=CALTECH_SIZES,
        n_classes=20,
        kind="object images",
        source=CALTECH,
        defects=(
            RE_EXTRACTED,
            "The paper's accuracies for Caltech-20 fit this set; its counts are Caltech101-7's.",
        ),
        file="Caltech101-20.npz",
        sha256="199b32fbbf19d4218461945d031169a68caa7908682d03155e7e4cd6e00218ff",
        view_names=CALTECH_VIEWS,
    ),
    DatasetCard(
        name="3sources",
        title="3Sources",
        paper_name=None,
        n_samples=169,
        n_features=(3560, 3631, 3068),
        n_classes=6,
        kind="documents",
        source=f"{BBC}/3sources.html",
        defects=("Word counts are stored as uint8: cast them before arithmetic.",),
        file="3Sources.mat",
        sha256="8a94f0e554c5782bc87561314f1bad8ca206910125734f4dbe2492956528c9ae",
        read_options={"views_key": "X", "labels_key": "y"},
    ),
    DatasetCard(
        name="reuters-1200",
        title="Reuters-1200",
        paper_name=None,
        n_samples=1200,
        n_features=(2000, 2000, 2000, 2000, 2000),
        n_classes=6,
        kind="documents in five languages",
        source="https://archive.ics.uci.edu/dataset/259",
        file="Reuters-1200.mat",
        sha256="af6c83c63dd2428ee1d0b32183aa0f660d17e941eded390da3ad83a7af75439c",
        read_options={"views_key": "fea", "labels_key": "gt"},
    ),
    DatasetCard(
        name="scene-15",
        title="Scene-15",
        paper_name=None,
        n_samples=4485,
        n_features=(20, 59, 40),
        n_classes=15,
        kind="scene images",
        source="Fei-Fei and Perona 2005, Lazebnik et al. 2006",
        file="Scene-15.mat",
        sha256="ec33b5e1f53eea04ccacc8b7bdfc6091ed490b04214eb41fd83c05a0a173221f",
        read_options=X_AND_Y,
    ),
    DatasetCard(
        name="rosmap",
        title="ROSMAP",
        paper_name=None,
        n_samples=351,
        n_features=(200, 200, 200),
        n_classes=2,
        kind="multi-omics of brain tissue",
        source="Religious Orders Study and Memory and Aging Project",
        file="ROSMAP.npz",
        sha256="315320fa07a3e14604ef99be197d5e974def7cda9d20ac4c495fb482a659e3c5",
        view_names=("mrna", "methylation", "mirna"),
    ),
    DatasetCard(
        name="acm3025",
        title="ACM3025",
        paper_name=None,
        n_samples=3025,
        n_features=(1870,),
        n_classes=3,
        kind="papers, with two given graphs",
        source="Association for Computing Machinery, as used for heterogeneous graphs",
        n_graphs=2,
        defects=("Both given graphs hold every sample's edge to itself.",),
        file="ACM3025.mat",
        sha256="515ab111458bc5e11edb194596770c9d135f69068fdba1c7c18dde9f392a1ab4",
        read_options={**X_AND_Y, "graphs_key": "adj"},
    ),
    DatasetCard(
        name="digits",
        title="Digits, five views of scikit-learn's images",
        paper_name=None,
        n_samples=1797,
        n_features=(64, 33, 72, 16, 25),
        n_classes=10,
        kind="digit images",
        source="https://archive.ics.uci.edu/dataset/80, with scikit-learn",
        sha256="8f26b2bd9d135c256808f68f14fdabddde6d9c7f869ae419704b051f0f14b3b3",
        view_names=("pixels", "fourier", "gradients", "profiles", "moments"),
    ),
)

CATALOG: dict[str, DatasetCard] = {card.name: card for card in _CARDS}
